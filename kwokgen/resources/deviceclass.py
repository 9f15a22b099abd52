"""DeviceClasses: one for each driver, and the blueprint's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.claim import DeviceClass
from kwokgen.model.cluster import Cluster
from kwokgen.model.device import Opaque
from kwokgen.resources._common import metadata
from kwokgen.series import Series, one

KIND = "DeviceClass"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()


def build(cluster: Cluster) -> Iterator[Series]:
    """Those that the cluster does not have already."""
    for entry in cluster.device_classes:
        if entry.created:
            document = {
                "apiVersion": f"resource.k8s.io/{cluster.kubernetes.resource_api}",
                "kind": KIND,
                "metadata": metadata(cluster, entry.name),
                "spec": _spec(entry),
            }
            yield one(document, file="30-deviceclasses.yaml", at=entry.at, by=__name__)


def _spec(entry: DeviceClass) -> dict[str, Any]:
    done: dict[str, Any] = {"selectors": [{"cel": {"expression": text}} for text in entry.selectors]}
    if entry.config:
        done["config"] = [opaque(config) for config in entry.config]
    if entry.resource:
        done["extendedResourceName"] = entry.resource
    return done


def opaque(config: Opaque) -> dict[str, Any]:
    """Parameters for a driver as classes and claims have them."""
    return {"opaque": {"driver": config.driver, "parameters": dict(config.parameters)}}
