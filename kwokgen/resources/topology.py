"""Topologies of Kueue and of KAI: by which labels of nodes they find places for the pods of a job."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources import _places
from kwokgen.resources._common import metadata
from kwokgen.resources._queues import made
from kwokgen.series import Series

KIND = "Topology"
IMMUTABLE = (("spec", "levels"),)


def build(cluster: Cluster) -> Iterator[Series]:
    """The one of the cluster, whose name is the bundle's."""
    topology = cluster.topology
    if topology and cluster.queues.form in {"kueue", "kai"}:
        spec = {"levels": _places.levels(topology)}
        yield made(cluster, KIND, metadata(cluster, cluster.name), spec, at=topology.at, by=__name__)
