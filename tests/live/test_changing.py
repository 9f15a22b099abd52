"""A bundle beside others, changed by another render, run again, and deleted, all by the lines of its own README."""

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from testbed import bundle as bundles
from testbed import running
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from tests.live.conftest import Applied
from tests.live.rendering import bundle, written
from tests.live.test_bundles import documents, errors_of_kwok, nodes_as_rendered, nodes_as_served
from tests.live.watching import running_pods, until

pytestmark = [pytest.mark.live, pytest.mark.newest]


def told(folder: Path, begin: str) -> list[str]:
    """The arguments of the command of a bundle's README that begins so."""
    text = (folder / "README.md").read_text().replace("\\\n", " ")
    (line,) = [line for line in text.splitlines() if line.startswith(begin)]
    arguments = shlex.split(line)[1:]
    return [str(folder) if one == "." else str(folder / one) if one.endswith(".yaml") else one for one in arguments]


def everything(cluster: Cluster, live: Bundle) -> dict[tuple[str, str], str]:
    """The uid of every object of a bundle and of its pods."""
    kinds = "namespaces,nodes,deviceclasses,resourceslices,resourceclaimtemplates,jobs,pods,configmaps,clusterroles"
    found = cluster.get(kinds, "--all-namespaces", "-l", live.selector)
    return {(each["kind"], each["metadata"]["name"]): each["metadata"]["uid"] for each in found}


def test_two_bundles_side_by_side(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """Each plays its own nodes and pods; when one is deleted by its README's line, the other stays as it is."""
    first = bundle("device-plugin", cluster.minor, tmp_path / "device-plugin")
    second = bundle("quickstart", cluster.minor, tmp_path / "quickstart")
    with applied(first) as live:
        running.wait(cluster, live, jobs=True, limit=120)
        before = everything(cluster, live)
        with deleted_by_hand(cluster, second) as other:
            running.wait(cluster, other, jobs=True, limit=120)
            assert pools_of_pods(cluster) == {"device-plugin": {"a100"}, "quickstart": {"h100"}}
            assert errors_of_kwok(cluster, live) == errors_of_kwok(cluster, other) == []
        assert everything(cluster, live) == before
        assert running.progress(cluster, live).unready == []


def pools_of_pods(cluster: Cluster) -> dict[str, set[str]]:
    nodes = {
        node["metadata"]["name"]: node["metadata"]["labels"].get("kwokgen.io/pool") for node in cluster.get("nodes")
    }
    found: dict[str, set[str]] = {}
    for pod in cluster.get("pods", "--all-namespaces"):
        if node := pod["spec"].get("nodeName"):
            found.setdefault(pod["metadata"]["namespace"], set()).add(nodes[node])
    return found


@contextmanager
def deleted_by_hand(cluster: Cluster, folder: Path) -> Iterator[Bundle]:
    """Run a bundle, and delete it as its README says: nothing of it is left, its pods neither."""
    live = bundles.read(folder)
    running.run(cluster, live)
    running.wait(cluster, live, jobs=False, limit=120)
    yield live
    cluster.kubectl(*told(folder, "kubectl delete "))
    for controller in live.controllers:
        cluster.end(next(process for process in cluster.running if process.name == controller.name))
    until(lambda: not left(cluster, live), 90, f"nothing of {live.name} left")


def left(cluster: Cluster, live: Bundle) -> list[str]:
    kinds = cluster.kubectl("api-resources", "--verbs=list,delete", "--output=name").stdout.split()
    said = cluster.kubectl("get", ",".join(kinds), "-l", live.selector, "--all-namespaces", "--output=name").stdout
    leases = cluster.get("leases", "-n", "kube-node-lease")
    return [
        *said.split(),
        *(lease["metadata"]["name"] for lease in leases if lease["metadata"]["name"].startswith("h100")),
    ]


FOREIGN = """
apiVersion: v1
kind: Node
metadata: {name: foreign, labels: {kubernetes.io/hostname: foreign, node.kubernetes.io/instance-type: p4d.24xlarge}}
status:
  capacity: {cpu: "1000", memory: 8Ti, pods: "1000", nvidia.com/gpu: "1000"}
  allocatable: {cpu: "1000", memory: 8Ti, pods: "1000", nvidia.com/gpu: "1000"}
  conditions: [{type: Ready, status: "True", reason: KubeletReady}]
"""


def test_no_pod_lands_on_a_node_of_others(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """A large, empty node without taints attracts every pod that may use it."""
    folder = bundle("device-plugin", cluster.minor, tmp_path / "b")
    cluster.kubectl("apply", "-f", "-", stdin=FOREIGN)
    try:
        with applied(folder) as live:
            running.wait(cluster, live, jobs=True, limit=120)
            nodes = {pod["spec"].get("nodeName") for pod in cluster.get("pods", "-n", live.name)}
            assert nodes
            assert "foreign" not in nodes
            # It took the pod of the controller's Deployment, which belongs there, and no kubelet will ever end it.
            cluster.kubectl("delete", "node", "foreign")
            cluster.kubectl("delete", "pods", "-n", f"kwok-{live.name}", "--all", "--force", "--grace-period=0")
    finally:
        cluster.kubectl("delete", "node", "foreign", "--ignore-not-found")


BEFORE = """
lifecycles: [{name: jobs, pods: timed, create: 1s, run: 1h}]
pools:
- {name: kept, count: 2, machine: p5.48xlarge}
- {name: grown, count: 2, machine: p5.48xlarge, labels: {team: red}, gpus: {count: 4}}
- {name: gone, count: 1, machine: m7i.24xlarge}
claims: [{name: one, requests: [{deviceClassName: gpu.nvidia.com}]}]
workloads: [{name: long, kind: job, pods: 4, pools: [kept], claims: [one]}]
"""
AFTER = """
lifecycles: [{name: jobs, pods: timed, create: 2s, run: 1h}]
pools:
- {name: kept, count: 2, machine: p5.48xlarge}
- name: grown
  count: 3
  machine: p5.48xlarge
  labels: {team: blue}
  taints: [{key: example.com/drained, effect: NoSchedule}]
  gpus: {count: 2}
  capacity: {cpu: 96, example.com/nic: 4}
- {name: new, count: 1, machine: m7i.24xlarge}
claims: [{name: one, requests: [{deviceClassName: gpu.nvidia.com}]}]
workloads: [{name: long, kind: job, pods: 4, pools: [kept], claims: [one]}]
"""


def test_another_render_takes_effect(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """Nodes come, go and change, capacity and slices included; pods of which nothing changed keep running."""
    folder = tmp_path / "b"
    with applied(written("changing", cluster.minor, folder, BEFORE)) as live:
        until(lambda: len(running_pods(cluster)) == 4, 60, "4 pods running")
        pods = running_pods(cluster).keys()
        changed = bundles.read(written("changing", cluster.minor, folder, AFTER))
        cluster.kubectl(*told(folder, "kubectl apply -f . --prune"))
        restart(cluster, changed)
        wanted = nodes_as_rendered(folder)
        until(lambda: nodes_as_served(cluster, live, wanted) == wanted, 60, "nodes as rendered")
        until(lambda: not running.progress(cluster, live).unready, 60, "all nodes Ready")
        assert {"grown-2", "new-0"} <= wanted.keys()
        assert slices_as_rendered(folder) == slices_as_served(cluster, live)
        assert running_pods(cluster).keys() == pods
        assert errors_of_kwok(cluster, live) == []


def restart(cluster: Cluster, live: Bundle) -> None:
    """What the Deployment's checksum annotation does: a new pod with the new configuration."""
    (controller,) = live.controllers
    cluster.end(next(process for process in cluster.running if process.name == controller.name))
    cluster.kwok(controller.config, token=running.token(cluster, controller), name=controller.name)


def slices_as_rendered(folder: Path) -> dict[str, list[str]]:
    return {one["metadata"]["name"]: devices(one) for one in documents(folder, "50-*")}


def slices_as_served(cluster: Cluster, live: Bundle) -> dict[str, list[str]]:
    return {one["metadata"]["name"]: devices(one) for one in cluster.get("resourceslices", "-l", live.selector)}


def devices(one: dict[str, Any]) -> list[str]:
    return [device["name"] for device in one["spec"]["devices"]]


def test_jobs_run_again(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """`kubectl replace --force --save-config -f 80-workloads.yaml`."""
    folder = bundle("quickstart", cluster.minor, tmp_path / "b", "workloads.train.run=1s")
    with applied(folder) as live:
        running.wait(cluster, live, jobs=True, limit=60)
        before = {job["metadata"]["uid"] for job in cluster.get("jobs", "-n", live.name)}
        cluster.kubectl(*told(folder, "kubectl replace --force "))
        running.wait(cluster, live, jobs=True, limit=60)
        after = cluster.get("jobs", "-n", live.name)
        assert not before & {job["metadata"]["uid"] for job in after}
        assert [job["status"].get("succeeded") for job in after] == [4]
        assert cluster.kubectl("apply", "-f", str(folder)).stderr == ""


def test_a_readme_names_its_lines(minor: str, tmp_path: Path) -> None:
    """The lines that the other tests run are there once."""
    folder = bundle("quickstart", minor, tmp_path / "b")
    assert re.fullmatch(r"\S+", told(folder, "kubectl replace --force ")[-1])
    assert told(folder, "kubectl delete ")[-2:] == [
        "app.kubernetes.io/instance=quickstart,app.kubernetes.io/managed-by=kwokgen",
        "--all-namespaces",
    ]
