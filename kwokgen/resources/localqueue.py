"""LocalQueues of Kueue: where a namespace's jobs go into a queue."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources._common import metadata
from kwokgen.resources._queues import made
from kwokgen.series import Series

KIND = "LocalQueue"
IMMUTABLE = (("spec", "clusterQueue"),)


def build(cluster: Cluster) -> Iterator[Series]:
    """One in each namespace with jobs of the queue; in the first where there are none, for jobs of others."""
    for queue in cluster.queues.queues if cluster.queues.form == "kueue" else ():
        homes = dict.fromkeys(workload.namespace for workload in cluster.queued(queue.name))
        for namespace in homes or (cluster.namespaces[0].name,):
            meta = metadata(cluster, queue.name, namespace=namespace)
            yield made(cluster, KIND, meta, {"clusterQueue": queue.name}, at=queue.at, by=__name__)
