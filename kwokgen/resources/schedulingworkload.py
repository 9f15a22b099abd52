"""Workloads of scheduling.k8s.io: what Kubernetes 1.35 has in the place of PodGroups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Workload
from kwokgen.resources._common import PODS
from kwokgen.resources._gangs import gangs
from kwokgen.series import Series

KIND = "Workload"
IMMUTABLE = (("spec", "podGroups"),)


def build(cluster: Cluster) -> Iterator[Series]:
    """One for each job with a gang."""
    yield from gangs(cluster, KIND, __name__, _spec)


def _spec(workload: Workload) -> dict[str, Any]:
    return {"podGroups": [{"name": PODS, "policy": {"gang": {"minCount": workload.parallelism}}}]}
