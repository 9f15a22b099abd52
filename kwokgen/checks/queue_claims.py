"""Shared claims: no more devices than the quota of their namespace has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kwokgen.checks._quotas import HINT_OF_ALL, all_of, devices, shared
from kwokgen.model.amounts import worth
from kwokgen.model.claim import Claim
from kwokgen.model.cluster import Cluster
from kwokgen.model.queue import Queue
from kwokgen.problem import Problem

ID = "queue-claim"
SUMMARY = "The quota of a namespace has the devices of its shared claims"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """For each class the claim with which they are too many: it may come before the quota by `apply -f`, not by `-k`."""
    for queue in cluster.queues.queues:
        asked: Counter[str] = Counter()
        for claim in shared(cluster, queue):
            before, asked = asked, asked + devices([claim])
            for resource, amount in queue.total.items():
                if before[resource] <= worth(amount) < asked[resource]:
                    yield _over(queue, claim, resource, asked[resource], amount)


def _over(queue: Queue, claim: Claim, resource: str, asked: int, amount: str) -> Problem:
    message = f'the shared claims of its namespace ask for {asked} {resource}, the quota of "{queue.name}" has {amount}'
    hint = HINT_OF_ALL if all_of(claim) else "raise the quota, or ask for less"
    return Problem(claim.at.pos(), ID, message, hint)
