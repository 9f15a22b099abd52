"""ResourceFlavors of Kueue: the nodes of one pool, and the taints that jobs put up with there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.labels import INSTANCE, POOL
from kwokgen.resources._common import metadata, toleration
from kwokgen.resources._queues import made
from kwokgen.series import Series

KIND = "ResourceFlavor"
IMMUTABLE = (("spec", "topologyName"), ("spec", "nodeLabels"), ("spec", "tolerations"))
"""https://github.com/kubernetes-sigs/kueue/blob/v0.17.0/apis/kueue/v1beta2/resourceflavor_types.go, ResourceFlavorSpec."""
BESIDE = (("spec", "topologyName"),)


def updatable(path: tuple[str, ...], flavor: Mapping[str, Any]) -> bool:
    """Whether an update can make an immutable path what it is in `flavor`: where no topology is named."""
    spec = flavor.get("spec")
    return path != ("spec", "topologyName") and isinstance(spec, dict) and "topologyName" not in spec


def build(cluster: Cluster) -> Iterator[Series]:
    """One for each pool that a queue has a quota of."""
    used = {quota.pool for queue in cluster.queues.queues for quota in queue.quotas}
    for pool in cluster.pools if cluster.queues.form == "kueue" else ():
        if pool.name in used:
            spec = {
                "nodeLabels": {INSTANCE: cluster.name, POOL: pool.name},
                **({"tolerations": [toleration(taint) for taint in pool.taints]} if pool.taints else {}),
                **({"topologyName": cluster.name} if cluster.places_by_queue else {}),
            }
            meta = metadata(cluster, named(cluster, pool.name))
            yield made(cluster, KIND, meta, spec, at=pool.at, by=__name__)


def named(cluster: Cluster, pool: str) -> str:
    """Flavors are of the whole cluster, where another bundle may have a pool of the name."""
    return f"{cluster.name}-{pool}"
