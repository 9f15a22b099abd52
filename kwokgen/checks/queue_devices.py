"""Devices of queues: how many there are is known, and jobs are counted by the names that quotas have."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.queue import Queue
from kwokgen.problem import Problem

ID = "queue-device"
SUMMARY = "Queues have quotas of devices whose number is known, by the name that their jobs ask by"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """Classes that are counted as more than they may be, and jobs that pass a quota by."""
    stock, by_pool = cluster.queues.stock, "pools" in cluster.queues.system.words
    quotas = [quota for queue in cluster.queues.queues for quota in queue.quotas]
    counted = {name for quota in quotas for name in (quota.all if by_pool else quota.amounts)}
    classes = {stock.class_of(resource) for resource in counted}
    for entry in cluster.device_classes:
        if entry.name in classes & stock.unsure:
            message = f'which devices are of the class "{entry.name}" is not known here: queues count all that may be'
            hint = "jobs may be let in whose pods wait for devices; give quotas of the class that there is enough for"
            yield Problem(entry.at.pos("selectors"), ID, message, hint, "warning")
    for queue in cluster.queues.queues:
        yield from _apart(cluster, queue)


def _apart(cluster: Cluster, queue: Queue) -> Iterator[Problem]:
    """Extended resources of a class whose devices, by that name, the queue has a quota of."""
    queues = cluster.queues
    for workload in cluster.queued(queue.name):
        for container, at in workload.containers:
            for resource in {**container.requests, **container.limits}:
                devices = queues.classes.get(queues.stock.class_of(resource) or "")
                if devices in queue.total and resource not in queue.total:
                    pos = at.pos("resources", resource) if at.raw("resources", resource) else workload.at.pos("gpus")
                    message = f'{resource} is not counted against the quota of {devices} of the queue "{queue.name}"'
                    yield Problem(pos, ID, message, f"add a quota of {resource}, or let the jobs use claims", "warning")
