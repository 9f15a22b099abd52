"""The KWOK controllers in the cluster: for each shard its configuration and its Deployment, and one account for all."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.resources import _kwok
from kwokgen.resources._common import metadata, owned
from kwokgen.resources._rbac import rules
from kwokgen.resources._stages import stages
from kwokgen.series import Document, Series, one
from kwokgen.templating import render

KIND = "Deployment"
IMMUTABLE = (("spec", "selector"),)
FILE = "10-kwok.yaml"


def build(cluster: Cluster) -> Iterator[Series]:
    """Everything that the fake kubelets need, when they run in the cluster."""
    if cluster.controller.run == "deployment":
        for document in (*_account(cluster), *_shards(cluster)):
            yield one(document, file=FILE, at=cluster.controller.at, by=__name__)


def _account(cluster: Cluster) -> Iterator[Document]:
    name, namespace = _kwok.name(cluster, 0), cluster.controller.namespace
    rbac = "rbac.authorization.k8s.io"
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(cluster, name, namespace=namespace)}
    yield {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRole",
        "metadata": metadata(cluster, name),
        "rules": rules(stages(cluster), leases=cluster.controller.lease_seconds > 0, crd=cluster.controller.crd),
    }
    yield {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": metadata(cluster, name),
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
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
