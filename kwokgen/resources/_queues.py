"""What jobs and their pods say to the queue system that they are for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kwokgen.model.cluster import Cluster
from kwokgen.model.queue import Form
from kwokgen.model.workload import Workload

FILE = "70-queues.yaml"


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
    return _MARKS[form](cluster, workload)


def served(cluster: Cluster, form: Form) -> bool:
    """Whether a system shares the cluster."""
    return bool(cluster.queues.queues) and cluster.queues.system.form == form


def priority(cluster: Cluster, value: int) -> str:
    """The name of the class of a priority."""
    return f"{cluster.name}-priority-{value if value >= 0 else f'minus-{-value}'}"


def _default(cluster: Cluster, workload: Workload) -> Marks:
    if workload.priority is None:
        return Marks()
    return Marks(spec={"priorityClassName": priority(cluster, workload.priority)})


def _kueue(cluster: Cluster, workload: Workload) -> Marks:
    # https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations/
    labels = {"kueue.x-k8s.io/queue-name": workload.queue}
    if workload.priority is not None:
        labels["kueue.x-k8s.io/priority-class"] = priority(cluster, workload.priority)
    return Marks(job_labels=labels, suspend=True)


_MARKS: dict[Form, Callable[[Cluster, Workload], Marks]] = {
    "default": _default,
    "kueue": _kueue,
}
