"""ClusterQueues of Kueue: what the jobs of a queue may use at once, by pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.queue import Queue, Quota
from kwokgen.resources import resourceflavor
from kwokgen.resources._common import metadata
from kwokgen.resources._queues import made
from kwokgen.series import Series

KIND = "ClusterQueue"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()
NEVER = "Never"


def build(cluster: Cluster) -> Iterator[Series]:
    """One for each queue."""
    for queue in cluster.queues.queues if cluster.queues.form == "kueue" else ():
        yield made(cluster, KIND, metadata(cluster, queue.name), _spec(cluster, queue), at=queue.at, by=__name__)


def _spec(cluster: Cluster, queue: Queue) -> dict[str, Any]:
    # Without the selector it takes jobs of no namespace.
    spec: dict[str, Any] = {"namespaceSelector": {}}
    if queue.cohort:
        spec["cohortName"] = queue.cohort
    if queue.weight is not None:
        spec["fairSharing"] = {"weight": f"{queue.weight}"}
    if preemption := _preemption(queue):
        spec["preemption"] = preemption
    # In the order of every flavor: https://github.com/kubernetes-sigs/kueue/blob/v0.17.0/pkg/webhooks/clusterqueue_webhook.go
    covered = sorted({name for quota in queue.quotas for name in quota.all}, key=lambda name: ("/" in name, name))
    if covered:
        flavors = [_flavor(cluster, queue, quota, covered) for quota in queue.quotas]
        spec["resourceGroups"] = [{"coveredResources": covered, "flavors": flavors}]
    return spec


def _preemption(queue: Queue) -> dict[str, str]:
    wanted = queue.preemption
    said = {"withinClusterQueue": wanted.within_queue, "reclaimWithinCohort": wanted.within_cohort}
    return {key: policy for key, policy in said.items() if policy != NEVER}


def _flavor(cluster: Cluster, queue: Queue, quota: Quota, covered: list[str]) -> dict[str, Any]:
    resources = [_resource(queue, quota, name) for name in covered]
    return {"name": resourceflavor.named(cluster, quota.pool), "resources": resources}


def _resource(queue: Queue, quota: Quota, name: str) -> dict[str, str]:
    done = {"name": name, "nominalQuota": quota.all[name]}
    if queue.cohort and name in quota.amounts:
        if quota.borrowed is not None:
            done["borrowingLimit"] = quota.borrowed[name]
        if not queue.lends:
            done["lendingLimit"] = "0"
    return done
