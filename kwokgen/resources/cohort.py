"""Cohorts of Kueue: queues that lend each other what they do not use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.resources._common import metadata
from kwokgen.resources._queues import made
from kwokgen.series import Series

KIND = "Cohort"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()


def build(cluster: Cluster) -> Iterator[Series]:
    """Each that a queue or another cohort names."""
    for cohort in cluster.queues.cohorts if cluster.queues.form == "kueue" else ():
        spec: dict[str, Any] = {"parentName": cohort.parent} if cohort.parent else {}
        if cohort.weight is not None:
            spec["fairSharing"] = {"weight": f"{cohort.weight}"}
        yield made(cluster, KIND, metadata(cluster, cohort.name), spec, at=cohort.at, by=__name__)
