"""Namespaces of the bundle, and that of its controllers."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources._common import metadata
from kwokgen.series import Series, one

KIND = "Namespace"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()
FILE = "00-namespace.yaml"


def build(cluster: Cluster) -> Iterator[Series]:
    """The blueprint's namespaces, then the controllers'."""
    for namespace in cluster.namespaces:
        meta = metadata(cluster, namespace.name, labels=namespace.labels, annotations=namespace.annotations)
        document = {"apiVersion": "v1", "kind": KIND, "metadata": meta}
        yield one(document, file=FILE, at=namespace.at, by=__name__)
    controller = cluster.controller
    named = {namespace.name for namespace in cluster.namespaces}
    if controller.run == "deployment" and controller.namespace not in named:
        document = {"apiVersion": "v1", "kind": KIND, "metadata": metadata(cluster, controller.namespace)}
        yield one(document, file=FILE, at=controller.at, by=__name__)
