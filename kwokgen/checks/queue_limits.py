"""What queue systems are told is no longer than they take: the names that follow from others, taints, and roles."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.formats import MOST_LABEL
from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "queue-limit"
SUMMARY = "Names, taints and roles that a queue system is told are within its limits"
MOST_TOLERATIONS = 8
"""https://github.com/kubernetes-sigs/kueue/blob/v0.17.0/apis/kueue/v1beta2/resourceflavor_types.go, ResourceFlavorSpec."""

MOST_SETS = 8
"""https://github.com/kubernetes-sigs/kueue/blob/v0.17.0/apis/kueue/v1beta2/workload_types.go, WorkloadSpec."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """What is longer, where it is written."""
    if cluster.queues.form == "yunikorn":
        yield from _paths(cluster)
    if cluster.queues.form == "kueue":
        yield from _priorities(cluster)
        yield from _taints(cluster)
        yield from _sets(cluster)


def _paths(cluster: Cluster) -> Iterator[Problem]:
    for queue in cluster.queues.queues:
        path = cluster.queues.path(queue.name)
        if len(path) > MOST_LABEL:
            message = (
                f'pods say their queue by a label, and "{path}" has {len(path)} characters, {MOST_LABEL} is the most'
            )
            yield Problem(queue.at.pos("name"), ID, message, "shorten its name, or those of its cohorts")


def _priorities(cluster: Cluster) -> Iterator[Problem]:
    for workload in cluster.workloads:
        name = cluster.priority_class(workload.priority or 0)
        if workload.queue and len(name) > MOST_LABEL:
            message = (
                f'jobs say their priority by a label, and "{name}" has {len(name)} characters, {MOST_LABEL} is the most'
            )
            hint = "write a priority of fewer digits, or shorten the blueprint's name"
            yield Problem(workload.at.pos("priority"), ID, message, hint)


def _sets(cluster: Cluster) -> Iterator[Problem]:
    for workload in cluster.workloads:
        if workload.queue and len(workload.roles) > MOST_SETS:
            message = f"{len(workload.roles)} roles, Kueue takes {MOST_SETS} sets of pods at the most"
            yield Problem(workload.at.pos("roles", MOST_SETS), ID, message, "join some of them")


def _taints(cluster: Cluster) -> Iterator[Problem]:
    used = {quota.pool for queue in cluster.queues.queues for quota in queue.quotas}
    for pool in cluster.pools:
        if pool.name in used and len(pool.taints) > MOST_TOLERATIONS:
            message = (
                f"{len(pool.taints)} taints with KWOK's own, a ResourceFlavor of Kueue puts up with {MOST_TOLERATIONS}"
            )
            yield Problem(pool.at.key("taints"), ID, message, "leave some out")
