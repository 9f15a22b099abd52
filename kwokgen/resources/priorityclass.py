"""PriorityClasses: which pods the scheduler takes first."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources._priorities import classes
from kwokgen.series import Series

KIND = "PriorityClass"
IMMUTABLE = (("value",), ("preemptionPolicy",))
"""https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/scheduling/validation/validation.go"""
VERSION = "scheduling.k8s.io/v1"


def build(cluster: Cluster) -> Iterator[Series]:
    """Those of all jobs, unless Kueue orders them by classes of its own."""
    if cluster.queues.form != "kueue":
        yield from classes(cluster, KIND, VERSION, __name__)
