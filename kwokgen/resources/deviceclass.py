"""DeviceClasses: one for each driver, and the blueprint's own."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources._common import metadata
from kwokgen.series import Series, one

KIND = "DeviceClass"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()


def build(cluster: Cluster) -> Iterator[Series]:
    """Those that the cluster does not have already."""
    for device_class in cluster.device_classes:
        if device_class.created:
            document = {
                "apiVersion": f"resource.k8s.io/{cluster.kubernetes.resource_api}",
                "kind": KIND,
                "metadata": metadata(cluster, device_class.name),
                "spec": {"selectors": [{"cel": {"expression": text}} for text in device_class.selectors]},
            }
            yield one(document, file="30-deviceclasses.yaml", at=device_class.at, by=__name__)
