"""LocalQueues of Kueue: where a namespace's jobs go into a queue."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources._common import metadata
from kwokgen.resources._queues import FILE, served
from kwokgen.series import Series, one

KIND = "LocalQueue"
IMMUTABLE = (("spec", "clusterQueue"),)


def build(cluster: Cluster) -> Iterator[Series]:
    """One in each namespace with jobs of the queue; in the first where there are none, for jobs of others."""
    for queue in cluster.queues.queues if served(cluster, "kueue") else ():
        homes = dict.fromkeys(workload.namespace for workload in cluster.queued(queue.name))
        for namespace in homes or (cluster.namespaces[0].name,):
            document = {
                "apiVersion": cluster.queues.system.kinds[KIND],
                "kind": KIND,
                "metadata": metadata(cluster, queue.name, namespace=namespace),
                "spec": {"clusterQueue": queue.name},
            }
            yield one(document, file=FILE, at=queue.at, by=__name__)
