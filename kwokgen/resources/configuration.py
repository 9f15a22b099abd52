"""Controllers' configuration files, for controllers that run outside of the cluster; nothing applies them."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources import _kwok

KIND = "KwokConfiguration"


def files(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Paths below the bundle with their texts."""
    if cluster.controller.run == "outside":
        yield from controllers(cluster)
        yield "controller/kwokctl.yaml", _kwok.kwokctl(cluster)


def controllers(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """The files of the processes, one a shard."""
    for shard in range(cluster.controller.shards):
        suffix = f"-{shard}" if shard else ""
        yield f"controller/kwok{suffix}.yaml", _kwok.configuration(cluster, shard)
