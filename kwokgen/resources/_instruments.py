"""Which instruments a cluster has, and where their objects stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.instruments import Rule
from kwokgen.resources._common import metadata
from kwokgen.resources._usage import measured, metered

FILE = "95-observability.yaml"
MONITORING = "monitoring.coreos.com"
BUNDLE = "bundle"
"""The label of every recorded series: rules of two bundles would otherwise record the same."""


def rules(cluster: Cluster) -> tuple[Rule, ...]:
    """What is recorded of a cluster, with its name where the catalogue has [bundle]."""
    there = (each for each in cluster.instruments if _measures(cluster, each.of))
    return tuple(_own(cluster, rule) for each in there for rule in each.rules)


def _measures(cluster: Cluster, of: str | None) -> bool:
    return of is None or (measured(cluster) and (of == "pods" or metered(cluster)))


def _own(cluster: Cluster, rule: Rule) -> Rule:
    labels = {BUNDLE: cluster.name, **rule.labels}
    return rule._replace(labels=labels, expr=rule.expr.replace("[bundle]", cluster.name))


def home(cluster: Cluster) -> str:
    """The namespace of what nobody has asked for by name: that of the controllers where the bundle has one."""
    controller = cluster.controller
    return controller.namespace if controller.run == "deployment" else cluster.namespaces[0].name


def chosen(cluster: Cluster, name: str, labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The metadata of an object that a Prometheus chooses by its labels."""
    return metadata(cluster, name, namespace=home(cluster), labels=labels or cluster.observability.labels)
