"""A dashboard of what is recorded, as a ConfigMap that Grafana's sidecar reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.instruments import Rule
from kwokgen.resources import _instruments
from kwokgen.series import Series, one

KIND = "ConfigMap"
SIDECAR = {"grafana_dashboard": "1"}
"""https://github.com/grafana/helm-charts/blob/main/charts/grafana/README.md#sidecar-for-dashboards"""
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
SCHEMA = 39
"""https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/"""
WIDTH, HEIGHT, COLUMNS = 12, 8, 2


def build(cluster: Cluster) -> Iterator[Series]:
    """A panel for each record."""
    if cluster.observability.grafana:
        text = json.dumps(_dashboard(cluster), indent=2, ensure_ascii=False)
        document = {
            "apiVersion": "v1",
            "kind": KIND,
            "metadata": _instruments.chosen(cluster, f"{cluster.name}-dashboard", SIDECAR),
            "data": {f"{cluster.name}.json": f"{text}\n"},
        }
        yield one(document, file=_instruments.FILE, at=cluster.observability.at, by=__name__)


def _dashboard(cluster: Cluster) -> dict[str, Any]:
    records: dict[str, Rule] = {}
    for rule in _instruments.rules(cluster):
        records.setdefault(rule.record, rule)
    variable = {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    return {
        "uid": f"kwokgen-{blake2b(cluster.name.encode(), digest_size=8).hexdigest()}",
        "title": f"kwokgen: {cluster.name}",
        "tags": ["kwokgen"],
        "schemaVersion": SCHEMA,
        "time": {"from": "now-15m", "to": "now"},
        "refresh": "5s",
        "templating": {"list": [variable]},
        "panels": [_panel(cluster, number, rule) for number, rule in enumerate(records.values())],
    }


def _panel(cluster: Cluster, number: int, first: Rule) -> dict[str, Any]:
    query = f'{first.record}{{{_instruments.BUNDLE}="{cluster.name}"}}'
    legend = f"{{{{{first.legend}}}}}" if first.legend else first.title
    row, column = divmod(number, COLUMNS)
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": first.title,
        "datasource": SOURCE,
        "gridPos": {"x": column * WIDTH, "y": row * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": first.unit, "min": 0}, "overrides": []},
        "targets": [{"refId": "A", "datasource": SOURCE, "expr": query, "legendFormat": legend}],
    }
