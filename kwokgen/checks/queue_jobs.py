"""Queues and their jobs: none that its queue can never let in."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from kwokgen.model.amounts import times, worth
from kwokgen.model.cluster import Cluster
from kwokgen.model.queue import Queue, Quota
from kwokgen.model.quota import asked
from kwokgen.model.workload import Workload
from kwokgen.problem import Pos, Problem, quoted

ID = "queue-job"
SUMMARY = "A queue can let each of its jobs in, if all others wait"
WHOLE = True
HINT = "raise the quota, let it borrow, or ask for less"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Jobs that would wait for ever."""
    by_pool = "pools" in cluster.queues.system.words
    for workload in cluster.workloads:
        queue = cluster.queues.named(workload.queue)
        if queue:
            yield from (_job if by_pool else _over_pools)(cluster, workload, queue)


def _over_pools(cluster: Cluster, workload: Workload, queue: Queue) -> Iterator[Problem]:
    """Where a queue has one bound of a resource, whatever the pool."""
    words, pods = cluster.queues.system.words, together(cluster, workload)
    if cluster.queues.system.form == "default" and not cluster.home(queue.name):
        return
    bounds = queue.most if "borrow" in words else queue.total
    for resource, amount in asked(workload, cluster.queues.classes).items():
        wanted = times(amount, pods)
        if resource in bounds and worth(wanted) > worth(bounds[resource]):
            message = f"{_who(pods)} for {wanted} {resource}, it has {bounds[resource]}"
            yield Problem(_pos(workload), ID, f'the queue "{queue.name}" never lets a job in: {message}', HINT)


def _pos(workload: Workload) -> Pos:
    return workload.at.pos("queue") if workload.at.raw("queue") else workload.at.pos()


def _who(pods: int) -> str:
    return f"{pods} pods at once ask" if pods > 1 else "a pod asks"


def _job(cluster: Cluster, workload: Workload, queue: Queue) -> Iterator[Problem]:
    names = {pool.name for pool in workload.pools}
    quotas = [quota for quota in queue.quotas if quota.pool in names]
    if not quotas:
        message = f'the queue "{queue.name}" has no quota of {quoted(names)}, and lets none of the jobs in'
        yield Problem(_pos(workload), ID, message, "give it one, or name pools that it has")
        return
    short = [_short(cluster, workload, queue, quota) for quota in quotas]
    if all(short):
        yield Problem(_pos(workload), ID, f'the queue "{queue.name}" never lets a job in: {short[0]}', HINT)


def _short(cluster: Cluster, workload: Workload, queue: Queue, quota: Quota) -> str:
    """What a quota lacks for one job; empty where it is enough."""
    pods = together(cluster, workload)
    for resource, amount in asked(workload, cluster.queues.classes).items():
        wanted, most = times(amount, pods), room(cluster, queue, quota, resource)
        if worth(wanted) > most:
            return f'{_who(pods)} for {wanted} {resource}, of "{quota.pool}" it has {most.normalize():f}'
    return ""


def together(cluster: Cluster, workload: Workload) -> int:
    """How many pods are let in as one."""
    whole = workload.gang or cluster.queues.system.form == "kueue"
    return min(workload.parallelism, workload.pods) if whole else 1


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
