"""Cohorts of Kueue: queues that lend each other what they do not use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.resources._common import metadata
from kwokgen.resources._queues import FILE, served
from kwokgen.series import Series, one

KIND = "Cohort"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()


def build(cluster: Cluster) -> Iterator[Series]:
    """Each that a queue or another cohort names."""
    for cohort in cluster.queues.cohorts if served(cluster, "kueue") else ():
        spec: dict[str, Any] = {"parentName": cohort.parent} if cohort.parent else {}
        if cohort.weight is not None:
            spec["fairSharing"] = {"weight": f"{cohort.weight}"}
        document = {
            "apiVersion": cluster.queues.system.kinds[KIND],
            "kind": KIND,
            "metadata": metadata(cluster, cohort.name),
            "spec": spec,
        }
        yield one(document, file=FILE, at=cohort.at, by=__name__)
