"""DeviceTaintRules: taints of devices that come and go without a change of the slices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.device import DeviceTaintRule
from kwokgen.resources._common import metadata, taint
from kwokgen.series import Series, one

KIND = "DeviceTaintRule"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()


def build(cluster: Cluster) -> Iterator[Series]:
    """Every rule, in the version of the minor."""
    feature = cluster.kubernetes.features.get("device-taint-rules")
    version = feature.api if feature and feature.api else cluster.kubernetes.resource_api
    for rule in cluster.device_taint_rules:
        document = {
            "apiVersion": f"resource.k8s.io/{version}",
            "kind": KIND,
            "metadata": metadata(cluster, f"{cluster.name}-{rule.name}"),
            "spec": {"deviceSelector": _selector(rule), "taint": taint(rule.taint)},
        }
        yield one(document, file="60-devicetaintrules.yaml", at=rule.at, by=__name__)


def _selector(rule: DeviceTaintRule) -> dict[str, Any]:
    wanted = {"driver": rule.driver, "pool": rule.pool, "device": rule.device}
    return {key: value for key, value in wanted.items() if value is not None}
