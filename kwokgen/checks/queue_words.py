"""Words of queues and of their jobs: what the system at hand has no way to say is left out, and told."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.queue import Cohort, Queue
from kwokgen.model.quota import DEVICES
from kwokgen.problem import Pos, Problem

ID = "queue-word"
SUMMARY = "What the blueprint says of queues and of places, the system can say"
WHOLE = True
WORDS = {
    "borrow.limit": "limit of what is borrowed",
    "claims": "quota of devices",
    "lend": "queue that does not lend",
    "parent": "cohorts within cohorts",
    "placement": "place of the topology that a gang is within",
    "pools": "quotas of each pool apart",
}


def check(cluster: Cluster) -> Iterator[Problem]:
    """A warning for each word that goes unsaid: another system may say it."""
    system = cluster.queues.system
    for word, pos in _used(cluster):
        if word not in system.words:
            message = f"{system.name} has no {WORDS.get(word, word)}"
            yield Problem(pos, ID, message, "it is left out", "warning")
    yield from _uncounted(cluster)
    for workload in () if cluster.own_gangs else cluster.parts:
        for index, claim in enumerate(workload.claims):
            if claim.of_gang:
                message = f"{system.name} has gangs of its own, which have no claims"
                yield Problem(workload.at.pos("claims", index), ID, message, "share the claim otherwise")


def _uncounted(cluster: Cluster) -> Iterator[Problem]:
    """Quotas of what the system does not count."""
    for quota in (quota for queue in cluster.queues.queues for quota in queue.quotas):
        for resource in quota.uncounted:
            what = WORDS["claims"] if resource.endswith(DEVICES) else f"quota of {resource}"
            pos = quota.at.pos("resources", resource) if quota.at.raw("resources", resource) else quota.at.pos("gpus")
            yield Problem(pos, ID, f"{cluster.queues.system.name} has no {what}", "it is left out", "warning")


def _used(cluster: Cluster) -> Iterator[tuple[str, Pos]]:
    for queue in cluster.queues.queues:
        yield from _queue(queue)
        yield from _quotas(queue)
    for cohort in cluster.queues.cohorts:
        yield from _cohort(cohort)
    for workload in cluster.workloads:
        if workload.placement:
            yield "placement", workload.at.key("placement")


def _queue(queue: Queue) -> Iterator[tuple[str, Pos]]:
    for word in ("cohort", "weight", "preemption"):
        if queue.at.node.child(word):
            yield word, queue.at.pos(word)
    if not queue.lends:
        yield "lend", queue.at.pos("lend")
    limited = any(quota.borrowed and any(amount != "0" for amount in quota.borrowed.values()) for quota in queue.quotas)
    if limited or any(quota.borrowed is None for quota in queue.quotas if quota.amounts):
        yield "borrow.limit" if limited else "borrow", queue.at.pos("borrow")


def _quotas(queue: Queue) -> Iterator[tuple[str, Pos]]:
    seen: set[str] = set()
    for quota in queue.quotas:
        if seen & {*quota.amounts}:
            yield "pools", quota.at.pos("pool")
        seen |= {*quota.amounts}


def _cohort(cohort: Cohort) -> Iterator[tuple[str, Pos]]:
    if cohort.parent is not None:
        yield "parent", cohort.at.pos("parent")
    if cohort.weight is not None:
        yield "weight", cohort.at.pos("weight")
