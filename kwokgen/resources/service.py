"""A name for each controller, by which a Prometheus asks it for its nodes."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources import _instruments, _kwok
from kwokgen.resources._common import metadata
from kwokgen.series import Document, Series, one

KIND = "Service"
IMMUTABLE: tuple[tuple[str, ...], ...] = (("spec", "clusterIP"),)


def build(cluster: Cluster) -> Iterator[Series]:
    """One for each controller in the cluster."""
    if cluster.observability.prometheus and cluster.controller.run == "deployment":
        for shard in range(cluster.controller.shards):
            document = _document(cluster, _kwok.name(cluster, shard))
            yield one(document, file=_instruments.FILE, at=cluster.observability.at, by=__name__)


def _document(cluster: Cluster, name: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": KIND,
        "metadata": metadata(cluster, name, namespace=cluster.controller.namespace),
        "spec": {
            "selector": {_kwok.CONTROLLER: name},
            "ports": [{"name": "http", "port": _kwok.PORT, "targetPort": "http"}],
        },
    }
