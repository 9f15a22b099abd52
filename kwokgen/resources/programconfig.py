"""ConfigMaps that other programs read: the queues of YuniKorn, a dashboard for Grafana."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources import _dashboard, _queueconfig
from kwokgen.series import Series

KIND = "ConfigMap"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()


def build(cluster: Cluster) -> Iterator[Series]:
    """Each where it is asked for; the controllers' own stand with them."""
    yield from _queueconfig.build(cluster)
    yield from _dashboard.build(cluster)
