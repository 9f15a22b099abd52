"""How a Prometheus finds the controllers: what KWOK tells of its own process."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources import _instruments, _kwok
from kwokgen.series import Series, one

KIND = "PodMonitor"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()


def build(cluster: Cluster) -> Iterator[Series]:
    """One for the controllers in the cluster."""
    if cluster.observability.prometheus and cluster.controller.run == "deployment":
        names = [_kwok.name(cluster, shard) for shard in range(cluster.controller.shards)]
        among = {"key": _kwok.CONTROLLER, "operator": "In", "values": names}
        document = {
            "apiVersion": f"{_instruments.MONITORING}/v1",
            "kind": KIND,
            "metadata": _instruments.chosen(cluster, _kwok.name(cluster, 0)),
            "spec": {
                "selector": {"matchExpressions": [among]},
                "podMetricsEndpoints": [{"port": "http", "path": "/metrics"}],
            },
        }
        yield one(document, file=_instruments.FILE, at=cluster.observability.at, by=__name__)
