"""Pod templates: what every kind of workload puts into the pods it makes."""

from __future__ import annotations

from typing import Any

from kwokgen.model.claim import Claim
from kwokgen.model.cluster import Cluster
from kwokgen.model.labels import JOB, LIFECYCLE
from kwokgen.model.workload import Container, Workload
from kwokgen.resources import _failures, _queues, _usage
from kwokgen.resources._common import PODS, RUN_SECONDS, affinity, toleration
from kwokgen.series import Slot


def template(cluster: Cluster, workload: Workload, part: Workload) -> dict[str, Any]:
    """Metadata and spec of those of a workload's pods that are of a part."""
    marks = _queues.marks(cluster, workload)
    meta = {
        "labels": _labels(workload) | dict(marks.pod_labels),
        "annotations": _annotations(cluster, workload, part)
        | _queues.of_part(cluster, part)
        | dict(marks.pod_annotations),
    }
    spec = _spec(cluster, part) | dict(marks.spec)
    return {"metadata": {key: value for key, value in meta.items() if value}, "spec": spec}


def _labels(workload: Workload) -> dict[str, Any]:
    lifecycle = {} if workload.default_lifecycle else {LIFECYCLE: workload.lifecycle.name}
    found = {JOB: Slot("name")} if workload.kind.selects else {}
    return lifecycle | found | dict(workload.labels)


def _annotations(cluster: Cluster, workload: Workload, part: Workload) -> dict[str, Any]:
    run = {RUN_SECONDS: Slot("run")} if workload.run else {}
    return run | _gpus(cluster, part) | _failures.marks(cluster, workload) | dict(workload.annotations)


def _gpus(cluster: Cluster, part: Workload) -> dict[str, str]:
    held = _usage.gpus(cluster, part) if _usage.measured(cluster) else 0
    return {_usage.HELD: f"{held}"} if held else {}


def _spec(cluster: Cluster, workload: Workload) -> dict[str, Any]:
    spec: dict[str, Any] = {"restartPolicy": workload.restart_policy}
    spec["affinity"] = affinity(cluster, () if workload.all_pools else workload.pools)
    if workload.tolerations:
        spec["tolerations"] = [toleration(taint) for taint in workload.tolerations]
    if workload.init_containers:
        spec["initContainers"] = [_container(workload, container, ()) for container in workload.init_containers]
    spec["containers"] = [_container(workload, workload.container, tuple(claim.reference for claim in workload.claims))]
    if workload.claims:
        spec["resourceClaims"] = [claim(entry) for entry in workload.claims]
    return spec | _gang(cluster, workload)


def claim(entry: Claim) -> dict[str, str]:
    """A claim as a pod, and the group of its gang, refer to it."""
    key = "resourceClaimName" if entry.shared else "resourceClaimTemplateName"
    return {"name": entry.reference, key: entry.name}


def _gang(cluster: Cluster, workload: Workload) -> dict[str, Any]:
    gangs = cluster.kubernetes.features.get("gangs")
    if gangs is None or not workload.gang or not cluster.own_gangs:
        return {}
    if gangs.kind == "Workload":
        return {"workloadRef": {"name": Slot("name"), "podGroup": PODS}}
    return {"schedulingGroup": {"podGroupName": Slot("name")}}


def _container(workload: Workload, container: Container, claims: tuple[str, ...]) -> dict[str, Any]:
    done: dict[str, Any] = {"name": container.name, "image": container.image}
    if container.command:
        done["command"] = list(container.command)
    resources: dict[str, Any] = {}
    if container.requests:
        resources["requests"] = dict(container.requests)
    if container.limits:
        resources["limits"] = dict(container.limits)
    if claims:
        resources["claims"] = [{"name": name} for name in claims]
    # Webhooks of other projects write it out, and a second apply, which takes lists whole, would take it away again.
    if resources or workload.kind.needs:
        done["resources"] = resources
    return done
