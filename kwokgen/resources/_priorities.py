"""Classes of priorities: one for each value that a workload has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Workload
from kwokgen.resources._common import metadata
from kwokgen.resources._queues import FILE
from kwokgen.series import Series, one


def classes(cluster: Cluster, kind: str, version: str, by: str) -> Iterator[Series]:
    """Those of all workloads, in the order of their values."""
    first: dict[int, Workload] = {}
    for workload in cluster.workloads:
        if workload.priority is not None:
            first.setdefault(workload.priority, workload)
    for value, workload in sorted(first.items()):
        document: dict[str, Any] = {
            "apiVersion": version,
            "kind": kind,
            "metadata": metadata(cluster, cluster.priority_class(value)),
            "value": value,
        }
        yield one(document, file=FILE, at=workload.at, by=by)
