"""Recording rules, for a Prometheus of the Prometheus Operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.instruments import Rule
from kwokgen.resources import _instruments
from kwokgen.series import Series, one

KIND = "PrometheusRule"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()


def build(cluster: Cluster) -> Iterator[Series]:
    """One group of all rules."""
    if cluster.observability.prometheus:
        rules = [_rule(rule) for rule in _instruments.rules(cluster)]
        document = {
            "apiVersion": f"{_instruments.MONITORING}/v1",
            "kind": KIND,
            "metadata": _instruments.chosen(cluster, cluster.name),
            "spec": {"groups": [{"name": f"kwokgen-{cluster.name}", "rules": rules}]},
        }
        yield one(document, file=_instruments.FILE, at=cluster.observability.at, by=__name__)


def _rule(rule: Rule) -> dict[str, Any]:
    return {"record": rule.record, "expr": rule.expr, "labels": dict(rule.labels)}
