"""Queues and their jobs: none that its queue can never let in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from kwokgen.model.amounts import times, total, worth
from kwokgen.model.cluster import Cluster
from kwokgen.model.place import Place
from kwokgen.model.queue import Queue, Quota
from kwokgen.model.quota import asked
from kwokgen.model.workload import Workload
from kwokgen.problem import Pos, Problem, quoted

ID = "queue-job"
SUMMARY = "A queue can let each of its jobs in, if all others wait"
WHOLE = True
HINT = "raise the quota, let it borrow, or ask for less"


class Asked(NamedTuple):
    """What is let in as one: so many pods, what they ask for together, and the pools that they may use."""

    pods: int
    amounts: Mapping[str, str]
    pools: frozenset[str]
    at: Place

    @property
    def who(self) -> str:
        """The subject of a sentence about them."""
        return f"{self.pods} pods at once ask" if self.pods > 1 else "a pod asks"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Jobs that would wait for ever."""
    by_pool = "pools" in cluster.queues.system.words
    for workload in cluster.workloads:
        queue = cluster.queues.named(workload.queue)
        if queue:
            yield from (_job if by_pool else _over_pools)(cluster, workload, queue)


def _asked(cluster: Cluster, workload: Workload) -> tuple[Asked, ...]:
    """Of each role apart, since each may get nodes of another pool."""
    whole = _whole(cluster, workload)
    done = []
    for part in workload.parts:
        pods = min(part.parallelism, part.pods) if whole else 1
        amounts = {name: times(each, pods) for name, each in asked(part, cluster.queues.classes).items()}
        done.append(Asked(pods, amounts, frozenset(pool.name for pool in part.pools), part.at))
    return tuple(done)


def _whole(cluster: Cluster, workload: Workload) -> bool:
    return workload.gang or (cluster.queues.system.form == "kueue" and workload.kind.let_in != "pods")


def _joined(cluster: Cluster, workload: Workload) -> tuple[Asked, ...]:
    """All roles together, where they are let in as one."""
    parts = _asked(cluster, workload)
    if len(parts) == 1 or not _whole(cluster, workload):
        return parts
    names = dict.fromkeys(name for part in parts for name in part.amounts)
    amounts = {name: total(part.amounts.get(name, "0") for part in parts) for name in names}
    pools = _shared(parts) if workload.placement else frozenset().union(*(part.pools for part in parts))
    return (Asked(sum(part.pods for part in parts), amounts, pools, workload.at),)


def _over_pools(cluster: Cluster, workload: Workload, queue: Queue) -> Iterator[Problem]:
    """Where a queue has one bound of a resource, whatever the pool."""
    if cluster.queues.system.form == "default" and not cluster.home(queue.name):
        return
    bounds = queue.most if "borrow" in cluster.queues.system.words else queue.total
    for one in _joined(cluster, workload):
        for resource, wanted in one.amounts.items():
            if resource in bounds and worth(wanted) > worth(bounds[resource]):
                message = f"{one.who} for {wanted} {resource}, it has {bounds[resource]}"
                yield Problem(_pos(one.at), ID, f'the queue "{queue.name}" never lets a job in: {message}', HINT)


def _shared(parts: Sequence[Asked]) -> frozenset[str]:
    """The pools that all parts may use: in one place they have one flavor of Kueue's."""
    return frozenset.intersection(*(part.pools for part in parts))


def _pos(at: Place) -> Pos:
    return at.pos("queue") if at.raw("queue") else at.pos()


def _job(cluster: Cluster, workload: Workload, queue: Queue) -> Iterator[Problem]:
    parts = _asked(cluster, workload)
    if workload.placement and not _shared(parts):
        # Then the check of topologies speaks.
        return
    all_of_one = all(sum(quota.pool in part.pools for quota in queue.quotas) == 1 for part in parts)
    alike = (len({part.pools for part in parts}) == 1 and all_of_one) or workload.placement
    for one in _joined(cluster, workload) if alike else parts:
        quotas = [quota for quota in queue.quotas if quota.pool in one.pools]
        short = [_short(cluster, one, queue, quota) for quota in quotas]
        if not quotas:
            message = f'the queue "{queue.name}" has no quota of {quoted(one.pools)}, and lets none of the jobs in'
            yield Problem(_pos(one.at), ID, message, "give it one, or name pools that it has")
        elif all(short):
            yield Problem(_pos(one.at), ID, f'the queue "{queue.name}" never lets a job in: {short[0]}', HINT)


def _short(cluster: Cluster, one: Asked, queue: Queue, quota: Quota) -> str:
    """What a quota lacks for one job; empty where it is enough."""
    for resource, wanted in one.amounts.items():
        most = room(cluster, queue, quota, resource)
        if worth(wanted) > most:
            return f'{one.who} for {wanted} {resource}, of "{quota.pool}" it has {most.normalize():f}'
    return ""


def room(cluster: Cluster, queue: Queue, quota: Quota, resource: str) -> Decimal:
    """The most that a queue can have of a pool, with what others lend it."""
    own = worth(quota.all.get(resource, "0"))
    borrows = quota.borrowed is None or worth(quota.borrowed.get(resource, "0"))
    if queue.cohort is None or not borrows:
        return own
    lent = sum((worth(other.all.get(resource, "0")) for other in _lenders(cluster, queue, quota.pool)), Decimal(0))
    return own + (lent if quota.borrowed is None else min(lent, worth(quota.borrowed[resource])))


def _lenders(cluster: Cluster, queue: Queue, pool: str) -> Iterator[Quota]:
    queues = cluster.queues
    for other in queues.queues:
        beside = other.cohort and queue.cohort and queues.above(other.cohort)[-1] == queues.above(queue.cohort)[-1]
        if beside and other.lends and other.name != queue.name:
            yield from (quota for quota in other.quotas if quota.pool == pool)
