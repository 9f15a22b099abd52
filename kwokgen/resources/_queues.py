"""What jobs and their pods say to the queue system that they are for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kwokgen.model.cluster import Cluster
from kwokgen.model.place import Place
from kwokgen.model.queue import Form
from kwokgen.model.workload import Workload
from kwokgen.resources import _places
from kwokgen.resources._common import affinity, toleration
from kwokgen.series import Series, Slot, one

FILE = "70-queues.yaml"
VOLCANO = "scheduling.volcano.sh"
YUNIKORN = "yunikorn.apache.org"
TASK_GROUP = "pods"


class Marks(NamedTuple):
    """What a system reads: on the job, on its pods, in their spec; `suspend` is whether it starts the job itself."""

    job_labels: Mapping[str, Any] = {}
    job_annotations: Mapping[str, Any] = {}
    pod_labels: Mapping[str, Any] = {}
    pod_annotations: Mapping[str, Any] = {}
    spec: Mapping[str, Any] = {}
    suspend: bool = False


def marks(cluster: Cluster, workload: Workload) -> Marks:
    """Those of a workload in its queue; of its priority alone where it has none."""
    form = cluster.queues.system.form if workload.queue else "default"
    done = _MARKS[form](cluster, workload)
    return done._replace(
        job_annotations={**done.job_annotations, **_places.of_job(cluster, workload)},
        pod_annotations={**done.pod_annotations, **_places.of_pods(cluster, workload)},
    )


def made(cluster: Cluster, kind: str, meta: dict[str, Any], spec: dict[str, Any], *, at: Place, by: str) -> Series:
    """An object of the queue system, in the version that its entry has of the kind."""
    version = cluster.queues.system.kinds[kind]
    return one({"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}, file=FILE, at=at, by=by)


def _default(cluster: Cluster, workload: Workload) -> Marks:
    name = priority_class(cluster, workload)
    return Marks(spec={"priorityClassName": name}) if name else Marks()


def priority_class(cluster: Cluster, workload: Workload) -> str | None:
    """The name of its PriorityClass, if it has a priority."""
    return None if workload.priority is None else cluster.priority_class(workload.priority)


def _kueue(cluster: Cluster, workload: Workload) -> Marks:
    # https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations/
    labels = {"kueue.x-k8s.io/queue-name": workload.queue}
    if workload.priority is not None:
        labels["kueue.x-k8s.io/priority-class"] = cluster.priority_class(workload.priority)
    if not workload.kind.bare:
        held = workload.kind.let_in
        return Marks(job_labels=labels, pod_labels=labels if held == "pods" else {}, suspend=held == "object")
    if workload.pods == 1:
        return Marks(job_labels=labels)
    # Nobody makes a pod anew that fails, and without this Kueue waits for another in its place.
    group = {
        "kueue.x-k8s.io/pod-group-total-count": f"{workload.pods}",
        "kueue.x-k8s.io/retriable-in-group": "false",
    }
    return Marks({**labels, "kueue.x-k8s.io/pod-group-name": Slot("name")}, group)


def _volcano(cluster: Cluster, workload: Workload) -> Marks:
    # https://github.com/volcano-sh/apis/blob/v1.14.0/pkg/apis/scheduling/v1beta1/labels.go
    queue = {f"{VOLCANO}/queue-name": workload.queue}
    gang = {f"{VOLCANO}/group-min-member": f"{workload.parallelism}"} if workload.gang else {}
    return Marks(job_annotations=queue | gang, pod_annotations=queue, spec=_scheduled(cluster, workload))


def _kai(cluster: Cluster, workload: Workload) -> Marks:
    # https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/batch/README.md
    label = {"kai.scheduler/queue": workload.queue}
    gang = {"kai.scheduler/batch-min-member": f"{workload.parallelism}"} if workload.gang else {}
    return Marks(label, gang, label, spec=_scheduled(cluster, workload))


def _yunikorn(cluster: Cluster, workload: Workload) -> Marks:
    # https://yunikorn.apache.org/docs/user_guide/labels_and_annotations_in_yunikorn
    labels = {f"{YUNIKORN}/app-id": Slot("name"), f"{YUNIKORN}/queue": cluster.queues.path(str(workload.queue))}
    gang = _task_groups(cluster, workload) if workload.gang else {}
    return Marks(pod_labels=labels, pod_annotations=gang, spec=_scheduled(cluster, workload))


def _task_groups(cluster: Cluster, workload: Workload) -> dict[str, str]:
    groups = [_task_group(cluster, part) for part in workload.parts]
    return {
        f"{YUNIKORN}/task-groups": json.dumps(groups, separators=(",", ":")),
        f"{YUNIKORN}/schedulingPolicyParameters": "gangSchedulingStyle=Hard",
    }


def _task_group(cluster: Cluster, part: Workload) -> dict[str, Any]:
    """Its placeholders are pods too, which have only what the group says."""
    pools = () if part.all_pools else part.pools
    return {
        "name": part.role or TASK_GROUP,
        "minMember": part.parallelism,
        "minResource": dict(part.requests),
        "tolerations": [toleration(taint) for taint in part.tolerations],
        "affinity": affinity(cluster, pools),
    }


def of_part(cluster: Cluster, part: Workload) -> dict[str, str]:
    """What pods of a gang say of their part of it."""
    yunikorn = part.queue and part.gang and cluster.queues.system.form == "yunikorn"
    return {f"{YUNIKORN}/task-group-name": part.role or TASK_GROUP} if yunikorn else {}


def _scheduled(cluster: Cluster, workload: Workload) -> dict[str, str | None]:
    return {"schedulerName": cluster.queues.system.scheduler, **_default(cluster, workload).spec}


_MARKS: dict[Form, Callable[[Cluster, Workload], Marks]] = {
    "default": _default,
    "kueue": _kueue,
    "volcano": _volcano,
    "yunikorn": _yunikorn,
    "kai": _kai,
}
