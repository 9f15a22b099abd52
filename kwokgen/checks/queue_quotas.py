"""Quotas: no more of a pool than it has."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.amounts import total, worth
from kwokgen.model.cluster import Cluster
from kwokgen.model.quota import capacity
from kwokgen.problem import Problem

ID = "queue-quota"
SUMMARY = "The quotas of a pool are no more than its nodes have"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """A warning at the quota that goes beyond; each after it does as well."""
    for pool in cluster.pools:
        given: dict[str, str] = {}
        quotas = (quota for queue in cluster.queues.queues for quota in queue.quotas if quota.pool == pool.name)
        for quota in quotas:
            for resource, amount in quota.amounts.items():
                before, there = given.get(resource, "0"), capacity(pool, resource, cluster.queues.stock)
                given[resource] = total((before, amount))
                if worth(before) <= worth(there) < worth(given[resource]):
                    section = ("resources", resource) if quota.at.raw("resources", resource) else ("gpus",)
                    message = f'with this the quotas of "{pool.name}" are {given[resource]} {resource}, its nodes have {there}'
                    hint = "jobs are let in whose pods find no place"
                    yield Problem(quota.at.pos(*section), ID, message, hint, "warning")
