"""Labels and annotations that kwokgen or KWOK sets, so that a blueprint cannot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kwokgen.jobrules import GENERATED
from kwokgen.model.cluster import Cluster
from kwokgen.model.place import Place
from kwokgen.problem import Problem

ID = "reserved-key"
SUMMARY = "Labels and annotations by which a bundle is found and played are not written by hand"
OWN = ("app.kubernetes.io/managed-by", "app.kubernetes.io/instance")
OF_JOBS = (*GENERATED, "batch.kubernetes.io/job-completion-index")
"""Labels of pods that the Job controller writes; another value is refused."""
OF_QUEUES = {
    "kueue": (
        *("kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"),
        *("kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/pod-group-total-count"),
    ),
    "volcano": ("scheduling.volcano.sh/queue-name", "scheduling.volcano.sh/group-min-member"),
    "yunikorn": (
        *("yunikorn.apache.org/app-id", "yunikorn.apache.org/queue", "yunikorn.apache.org/task-groups"),
        *("yunikorn.apache.org/task-group-name", "yunikorn.apache.org/schedulingPolicyParameters"),
    ),
    "kai": ("kai.scheduler/queue", "kai.scheduler/batch-min-member"),
}
"""What says a job's queue, by the system."""
OF_NAMESPACES = "kubernetes.io/metadata.name"
OTHERS = {OF_NAMESPACES: "the API server", **dict.fromkeys(OF_JOBS, "the Job controller")}
OF_NODES = ("kubernetes.io/hostname", "type", "kwok.x-k8s.io/node")


def check(cluster: Cluster) -> Iterator[Problem]:
    """Every reserved key."""
    for pool in cluster.pools:
        yield from _reserved(pool.at, "labels", pool.labels, OF_NODES)
        yield from _reserved(pool.at, "annotations", pool.annotations, OF_NODES)
        ttl = pool.annotations.get("node.alpha.kubernetes.io/ttl", "0")
        if not re.fullmatch("[0-9]+", ttl):
            pos = pool.at.pos("annotations", "node.alpha.kubernetes.io/ttl")
            yield Problem(pos, ID, f'"{ttl}" is not a number of seconds', 'such as "0"')
    yield from _reserved(cluster.observability.at, "labels", cluster.observability.labels, ())
    for namespace in cluster.namespaces:
        yield from _reserved(namespace.at, "labels", namespace.labels, (OF_NAMESPACES,))
    for workload in cluster.workloads:
        queued = OF_QUEUES.get(cluster.queues.system.form, ()) if workload.queue else ()
        yield from _reserved(workload.at, "labels", workload.labels, (*OF_JOBS, *queued))
        yield from _reserved(workload.at, "annotations", workload.annotations, queued)


def _reserved(at: Place, section: str, written: Mapping[str, str], more: tuple[str, ...]) -> Iterator[Problem]:
    for key in written:
        if key in (*OWN, *more) or key.startswith("kwokgen.io/"):
            message = f'the {section.removesuffix("s")} "{key}" is set by {OTHERS.get(key, "kwokgen")}'
            yield Problem(at.key(section, key), ID, message, "leave it out")
