"""Stages as objects of the cluster, for controllers that read them there."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources._common import metadata
from kwokgen.resources._stages import stages
from kwokgen.series import Series, one

KIND = "Stage"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()


def build(cluster: Cluster) -> Iterator[Series]:
    """Every Stage, with `stages: crd`."""
    if cluster.controller.crd:
        for stage in stages(cluster):
            document = stage | {"metadata": metadata(cluster, stage["metadata"]["name"])}
            yield one(document, file="20-stages.yaml", at=cluster.controller.at, by=__name__)
