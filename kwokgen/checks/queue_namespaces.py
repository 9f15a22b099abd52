"""Quotas of the default scheduler: each is of a namespace, whose pods must say what they ask for."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.queue import Queue
from kwokgen.model.quota import DEVICES, of_class
from kwokgen.problem import Problem

ID = "queue-namespace"
SUMMARY = "A queue of the default scheduler has a namespace for itself"
WHOLE = True
SAID = ("cpu", "memory")
"""Pods without a request for these are refused where there is a quota: MissingRequired of
https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/quota/v1/evaluator/core/pods.go, Constraints."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """Quotas that are not written, and jobs that one would keep from having any pod."""
    if cluster.queues.system.form != "default":
        return
    for queue in cluster.queues.queues:
        if queue.total and cluster.home(queue.name):
            yield from _silent(cluster, queue)
            yield from _uncounted(cluster, queue)
        elif queue.total:
            why = "are not its own" if cluster.queued(queue.name) else "are not known, since it has no jobs"
            message = f'the namespaces of the queue "{queue.name}" {why}, and a ResourceQuota is of a namespace'
            yield Problem(queue.at.pos("quota"), ID, message, "its quota is left out", "warning")


def _silent(cluster: Cluster, queue: Queue) -> Iterator[Problem]:
    for resource in (name for name in SAID if name in queue.total):
        for workload in cluster.queued(queue.name):
            if not all(container.requests.get(resource) for container, _ in workload.containers):
                message = f'its containers ask for no {resource}, of which the queue "{queue.name}" has a quota'
                hint = "the namespace refuses such pods: say so in container.resources"
                yield Problem(workload.at.pos(), ID, message, hint)


def _uncounted(cluster: Cluster, queue: Queue) -> Iterator[Problem]:
    """Devices of a driver by a class of one's own: a namespace counts them by class."""
    for workload in cluster.queued(queue.name):
        for index, claim in enumerate(workload.claims):
            names = {ask.device_class for request in claim.requests for ask in request.asks}
            for name in sorted(names):
                counted = cluster.queues.classes.get(name, of_class(name))
                if counted in queue.total and counted != of_class(name):
                    message = f'devices of the class "{name}" are not counted against the quota of {counted}'
                    hint = f"a namespace counts by class: let the claim ask for {counted.removesuffix(DEVICES)}"
                    yield Problem(workload.at.pos("claims", index), ID, message, hint, "warning")
