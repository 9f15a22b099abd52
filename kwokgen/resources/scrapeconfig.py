"""How a Prometheus finds what the controllers tell of nodes and pods: each lists a path a node, which no monitor can say."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources import _instruments, _kwok
from kwokgen.series import Series, one

KIND = "ScrapeConfig"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()


def build(cluster: Cluster) -> Iterator[Series]:
    """One that asks each controller, which knows its own nodes only."""
    if cluster.observability.prometheus and cluster.controller.run == "deployment":
        urls = [_url(cluster, shard) for shard in range(cluster.controller.shards)]
        document = {
            "apiVersion": f"{_instruments.MONITORING}/v1alpha1",
            "kind": KIND,
            "metadata": _instruments.chosen(cluster, _kwok.name(cluster, 0)),
            # Labels of the pods' own, which a label of the target would push aside.
            "spec": {"honorLabels": True, "httpSDConfigs": [{"url": url} for url in urls]},
        }
        yield one(document, file=_instruments.FILE, at=cluster.observability.at, by=__name__)


def _url(cluster: Cluster, shard: int) -> str:
    name, namespace = _kwok.name(cluster, shard), cluster.controller.namespace
    return f"http://{name}.{namespace}.svc:{_kwok.PORT}/discovery/prometheus"
