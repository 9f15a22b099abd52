"""The README of a bundle: what it is, what the cluster must have, and how to apply, wait, run again and delete."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from kwokgen import apirules, pruning
from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Kind
from kwokgen.needs import requirements
from kwokgen.resources import configuration, workload
from kwokgen.series import Series, filled
from kwokgen.timeline import timeline


def text(cluster: Cluster, series: Sequence[Series], *, kustomized: bool) -> str:
    """The whole file, without the ownership line."""
    apply = "kubectl apply" if _kept_by_clients(series) else "kubectl apply --server-side"
    parts = (
        _about(cluster),
        _needed(cluster),
        _apply(cluster, apply, kustomized=kustomized),
        _waves(cluster),
        _wait(cluster),
        _queues(cluster),
        _faults(cluster),
        pruning.text(cluster, series, apply),
    )
    return "\n".join(line for part in parts for line in part)


def _kept_by_clients(series: Sequence[Series]) -> bool:
    longest = {id(run.shape): (run, one.columns) for one in series for run in one.runs}
    return all(
        apirules.fits_an_annotation(filled(document, columns, run.last))
        for run, columns in longest.values()
        for document in run.shape.documents
    )


def _about(cluster: Cluster) -> Iterator[str]:
    pools = ", ".join(f"{pool.count} of {pool.name}" for pool in cluster.pools)
    yield ""
    yield f"Rendered by kwokgen for Kubernetes {cluster.kubernetes.minor}; change the blueprint, not these files."
    yield ""
    yield f"- Nodes: {cluster.nodes} ({pools}), all fake: KWOK {cluster.controller.kwok.release} plays them, nothing runs on them."
    jobs = sum(workload.count for workload in cluster.workloads)
    if jobs:
        yield f"- Jobs: {jobs}; their pods require nodes with the label app.kubernetes.io/instance={cluster.name}."
    yield ""


def _needed(cluster: Cluster) -> Iterator[str]:
    needed = requirements(cluster)
    yield "## What the cluster must have"
    yield ""
    yield f"- Kubernetes {cluster.kubernetes.minor}"
    yield from (
        f"- feature gate: `{gate}=true`, on the API server, the controller manager and the scheduler"
        for gate in needed.gates
    )
    yield from (f"- runtime-config: `{entry}`, on the API server" for entry in needed.runtime_config)
    yield from (f"- {other}" for other in needed.others)
    yield ""


def _apply(cluster: Cluster, apply: str, *, kustomized: bool) -> Iterator[str]:
    yield "## Apply"
    yield ""
    yield "```sh"
    if _defines(cluster):
        yield f"{apply} -f 05-crds.yaml"
        # kubectl fails at once for a condition while an object has none at all; both come with the names.
        yield "kubectl wait --for=jsonpath='{.status.acceptedNames.kind}'=Stage crd/stages.kwok.x-k8s.io"
        yield "kubectl wait --for=condition=Established crd/stages.kwok.x-k8s.io"
    for waits in dict.fromkeys(one.kind.queue_waits for one in cluster.workloads if one.kind.queue_waits):
        yield f"{apply} -f 00-namespace.yaml -f 70-queues.yaml"
        yield f"kubectl wait {waits} {pruning.selector(cluster)} --timeout=1m"
    yield f"{apply} -f ."
    yield "```"
    yield ""
    yield from _other_ways(cluster, apply, kustomized=kustomized)
    yield ""
    if cluster.controller.run == "outside":
        files = ", ".join(f"`kwok --config {path} --kubeconfig …`" for path, _ in configuration.controllers(cluster))
        yield f"The controller runs outside: {files}, or for a cluster of its own"
        yield "`kwokctl create cluster --config controller/kwokctl.yaml`."
        yield ""
    if cluster.controller.crd:
        yield "Stages are objects of the whole cluster: a second bundle with `stages: crd` beside this one would play its pods too."
        yield ""


def _defines(cluster: Cluster) -> bool:
    return cluster.controller.crd and cluster.controller.run != "existing"


def _other_ways(cluster: Cluster, apply: str, *, kustomized: bool) -> Iterator[str]:
    again = "A second apply changes nothing" + (", but see Queues." if _suspended(cluster) else ".")
    if _defines(cluster):
        yield f"`apply --server-side -f` does as well, in the same steps. {again}"
        if kustomized:
            yield "`kubectl apply -k .` needs the definition as well: it is for a cluster that has it already."
    elif "--server-side" in apply:
        yield f"An object is larger than client-side apply can keep. `create -f .` does as well. {again}"
    elif kustomized:
        yield f"`kubectl apply -k .`, `apply --server-side -f .` and `create -f .` do as well. {again}"
    else:
        yield f"`apply --server-side -f .` and `create -f .` do as well. {again} There is no Kustomization:"
        yield "kustomize takes minutes for this many objects. Files of nodes and slices may be applied side by side."
        yield "Where the objects are there already, add `--openapi-patch=false`: otherwise kubectl reads the API's description"
        yield "anew for each of them, six or seven a second (kubernetes/kubernetes#127095)."


def _waves(cluster: Cluster) -> Iterator[str]:
    coming = [each for each in cluster.workloads if each.arrival]
    if coming:
        names = ", ".join(each.name for each in coming)
        yield f"`sh {workload.SCRIPT}` then applies the jobs of {names} in time, each wave at its second; `apply -f .` does not read them,"
        yield "and one with `--prune` takes away those that have come."
        yield ""


def _wait(cluster: Cluster) -> Iterator[str]:
    label = pruning.selector(cluster)
    yield "## Wait, and run again"
    yield ""
    yield "```sh"
    yield f"kubectl wait --for=condition=Ready node {label} --timeout={_patience(cluster)}m"
    waited = ((one.namespace, one.kind.waits) for one in cluster.workloads if not one.suspend)
    for namespace, waits in dict.fromkeys(waited):
        yield f"kubectl wait {waits} {label} -n {namespace} --timeout=1h"
    if not all(workload.arrival for workload in cluster.workloads):
        # What an apply would save: without it the next one warns, and does not prune.
        yield "kubectl replace --force --save-config -f 80-workloads.yaml"
    yield "```"
    yield ""
    ending = [workload for workload in cluster.workloads if workload.kind.ends]
    if failing := sorted(workload.name for workload in ending if workload.failures or workload.unpulled):
        yield f"Pods of {', '.join(failing)} are made to fail: a job that ends as Failed is never Complete, and the wait for it does not end."
        yield ""
    if going := sorted({fault.pool for fault in cluster.faults if any(step.gone for step in fault.steps)}):
        files = " ".join(f"-f 40-nodes-{pool}.yaml" for pool in going)
        yield f"Faults delete nodes of {', '.join(going)}: `kubectl apply {files}` makes them anew, and their lives with their faults begin again."
        yield ""


def _patience(cluster: Cluster) -> int:
    """Minutes until all nodes are Ready, with a good measure."""
    return 10 + max(ceil((pool.lifecycle.ready or (0, 0))[1] / 60_000) for pool in cluster.pools)


def _queues(cluster: Cluster) -> Iterator[str]:
    """What another program changes of the bundle's objects."""
    if cluster.queues.form != "kueue":
        return
    yield "## Queues"
    yield ""
    if _suspended(cluster):
        yield "Jobs are created suspended. Kueue starts a job when its queue has room for all of its pods at once, and keeps those that"
        yield "are alike to the nodes of one pool. A second apply says `configured` of every job that Kueue has started: it suspends the"
        yield "job again, whose pods end, and Kueue starts it anew; one that is done stays so. To leave jobs alone, apply the files before"
        yield "80-workloads.yaml only."
        yield ""
    if gated := sorted(workload.name for workload in cluster.workloads if _gated(workload.kind)):
        yield f"Pods of {', '.join(gated)} have a gate of Kueue's until their queue has room: each of a Deployment by itself, those of a group all at once."
        yield ""
    yield "`kubectl get workloads.kueue.x-k8s.io --all-namespaces` says who waits."
    yield ""


def _gated(kind: Kind) -> bool:
    return kind.bare or kind.let_in != "object"


def _suspended(cluster: Cluster) -> bool:
    """Whether Kueue changes what an apply has said: it starts jobs that wait suspended."""
    return cluster.queues.form == "kueue" and not all(_gated(workload.kind) for workload in cluster.workloads)


def _faults(cluster: Cluster) -> Iterator[str]:
    """Commands only: what a fault does stands in `kwokgen plan`."""
    by_hand = [moment for moment in timeline(cluster) if moment.command]
    if not by_hand:
        return
    yield "## Faults by hand"
    yield ""
    yield "An apply of the nodes, or of their slices, sets the labels back and so ends the faults."
    yield ""
    yield "```sh"
    for moment in by_hand:
        yield f"{moment.command}  # {moment.fault}: {moment.what[0] if len(moment.what) == 1 else moment.entry}{moment.again}"
    yield "```"
    yield ""
