"""PriorityClasses are not called as Kubernetes' own."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "priority-name"
SUMMARY = "PriorityClasses are not called as Kubernetes' own"
OWN = "system-"
"""https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/scheduling/validation/validation.go, ValidatePriorityClass."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """Priorities in a bundle whose name begins as those that the API server keeps to itself; Kueue has classes of its own."""
    if cluster.name.startswith(OWN) and cluster.queues.system.form != "kueue":
        for workload in cluster.workloads:
            if workload.priority is not None:
                message = f'"{cluster.priority_class(workload.priority)}" would begin with "{OWN}", which is kept for Kubernetes'
                yield Problem(workload.at.pos("priority"), ID, message, "begin the blueprint's metadata.name otherwise")
