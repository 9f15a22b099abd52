"""The KWOK controllers in the cluster: for each shard its configuration and its Deployment, and one account for all."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.resources import _kwok
from kwokgen.resources._common import metadata, owned
from kwokgen.resources._rbac import LEASES, NODE_LEASES, rules
from kwokgen.resources._stages import stages
from kwokgen.series import Document, Series, one
from kwokgen.templating import render

KIND = "Deployment"
IMMUTABLE = (("spec", "selector"),)
FILE = "10-kwok.yaml"
RBAC = "rbac.authorization.k8s.io"


def build(cluster: Cluster) -> Iterator[Series]:
    """Everything that the fake kubelets need, when they run in the cluster."""
    if cluster.controller.run == "deployment":
        for document in (*_account(cluster), *_shards(cluster)):
            yield one(document, file=FILE, at=cluster.controller.at, by=__name__)


def _account(cluster: Cluster) -> Iterator[Document]:
    meta = metadata(cluster, _kwok.name(cluster, 0), namespace=cluster.controller.namespace)
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}
    yield from _granted(cluster, "ClusterRole", rules(stages(cluster), crd=cluster.controller.crd))
    if cluster.controller.lease_seconds:
        yield from _granted(cluster, "Role", LEASES, NODE_LEASES)


def _granted(
    cluster: Cluster, kind: str, allowed: list[dict[str, Any]], namespace: str | None = None
) -> Iterator[Document]:
    """A role of one namespace or of all, and the account that has it."""
    name, meta = _kwok.name(cluster, 0), metadata(cluster, _kwok.name(cluster, 0), namespace=namespace)
    yield {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": meta, "rules": allowed}
    yield {
        "apiVersion": f"{RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": meta,
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": cluster.controller.namespace}],
    }


def _shards(cluster: Cluster) -> Iterator[Document]:
    for shard in range(cluster.controller.shards):
        text = _kwok.configuration(cluster, shard)
        name, namespace = _kwok.name(cluster, shard), cluster.controller.namespace
        meta = metadata(cluster, name, namespace=namespace)
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"kwok.yaml": text}}
        yield _deployment(cluster, name, text)


def _deployment(cluster: Cluster, name: str, configuration: str) -> Document:
    kwok = cluster.controller.kwok
    values: dict[str, Any] = {
        "name": name,
        "namespace": cluster.controller.namespace,
        "labels": owned(cluster),
        "account": _kwok.name(cluster, 0),
        "config": name,
        "checksum": blake2b(configuration.encode(), digest_size=16).hexdigest(),
        "image": kwok.image,
        "port": _kwok.PORT,
    }
    return render(kwok.template, values)
