"""ResourceQuotas: the quotas of a queue whose jobs are all of one namespace, and the only ones there."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.quota import DEVICES
from kwokgen.resources._common import metadata
from kwokgen.resources._queues import made
from kwokgen.series import Series

KIND = "ResourceQuota"
IMMUTABLE = (("spec", "scopes"), ("spec", "scopeSelector"))


def build(cluster: Cluster) -> Iterator[Series]:
    """One for each queue that has a namespace for itself."""
    for queue in cluster.queues.queues if cluster.queues.form == "default" else ():
        home = cluster.home(queue.name)
        if home and queue.total:
            meta = metadata(cluster, queue.name, namespace=home)
            spec = {"hard": {_requested(name): amount for name, amount in queue.total.items()}}
            yield made(cluster, KIND, meta, spec, at=queue.at, by=__name__)


def _requested(resource: str) -> str:
    """https://kubernetes.io/docs/concepts/policy/resource-quotas/ ."""
    if resource.endswith(DEVICES):
        return f"{resource.removesuffix(DEVICES)}.deviceclass.resource.k8s.io/devices"
    return resource if resource == "pods" else f"requests.{resource}"
