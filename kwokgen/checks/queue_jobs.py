"""Queues and their jobs: none that its queue can never let in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from kwokgen.checks._quotas import HINT_OF_ALL, all_of, bounds, devices, guaranteed, has, room, taken, where
from kwokgen.model.amounts import spelt, times, total, worth
from kwokgen.model.cluster import Cluster
from kwokgen.model.place import Place
from kwokgen.model.queue import Queue, Quota
from kwokgen.model.quota import DEVICES
from kwokgen.model.workload import Workload
from kwokgen.problem import Problem, quoted

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
    for queue in cluster.queues.queues if cluster.queues.system.form == "default" else ():
        yield from _plain_pods(cluster, queue)


def _plain_pods(cluster: Cluster, queue: Queue) -> Iterator[Problem]:
    """Pods above a ResourceQuota are refused, and nobody makes plain ones anew."""
    pods = 0
    sums: dict[str, Decimal] = defaultdict(Decimal)
    plain = [one for one in cluster.workloads if one.kind.bare and one.queue == queue.name and not one.arrival]
    most = bounds(cluster, queue)
    for workload in plain if cluster.home(queue.name) else ():
        pods += workload.count * workload.pods
        for name, each in taken(cluster, workload, queue).items():
            sums[name] += worth(each) * workload.count * workload.pods
        over = next((name for name in sums if name in most and sums[name] > worth(most[name])), None)
        if over:
            why = f"{pods} plain pods ask for {spelt(sums[over])} {over} at once, {has(cluster, queue, over)}"
            message = f'the quota of "{queue.name}" refuses some of them for good: {why}'
            yield Problem(where(workload.at), ID, message, "make fewer, let them come by arrival, or make jobs of them")
            return


def _asked(cluster: Cluster, workload: Workload, queue: Queue) -> list[Asked]:
    """Of each role apart, since each may get nodes of another pool."""
    done = []
    for part in workload.parts:
        pods = part.parallelism if _whole(cluster, workload) else 1
        amounts = {name: times(each, pods) for name, each in taken(cluster, part, queue).items()}
        done.append(Asked(pods, amounts, frozenset(pool.name for pool in part.pools), part.at))
    return done


def _whole(cluster: Cluster, workload: Workload) -> bool:
    return workload.gang or (cluster.queues.system.form == "kueue" and workload.kind.let_in != "pods")


def _joined(parts: Sequence[Asked], pools: frozenset[str], at: Place) -> Asked:
    """Those that are let in as one."""
    names = dict.fromkeys(name for part in parts for name in part.amounts)
    amounts = {name: total(part.amounts.get(name, "0") for part in parts) for name in names}
    return Asked(sum(part.pods for part in parts), amounts, pools, at if len(parts) > 1 else parts[0].at)


def _over_pools(cluster: Cluster, workload: Workload, queue: Queue) -> Iterator[Problem]:
    """Where a queue has one bound of a resource, whatever the pool."""
    if cluster.queues.system.form == "default" and not cluster.home(queue.name):
        return
    own, parts = guaranteed(cluster, queue, workload), _asked(cluster, workload, queue)
    most = bounds(cluster, queue, own=own)
    whole = [_joined([*parts, *_of_gang(cluster, workload)], frozenset(), workload.at)]
    for one in whole if _whole(cluster, workload) else parts:
        for resource, wanted in one.amounts.items():
            if resource in most and worth(wanted) > worth(most[resource]):
                message = f"{one.who} for {wanted} {resource}, {has(cluster, queue, resource, own=own)}"
                message = f'the queue "{queue.name}" never lets a job in: {message}'
                yield Problem(where(one.at), ID, message, _hint(cluster, workload, resource, own=own))


def _of_gang(cluster: Cluster, workload: Workload) -> list[Asked]:
    """What a ResourceQuota counts of a gang once, whatever its pods."""
    if cluster.queues.system.form != "default":
        return []
    claims = {claim.name: claim for part in workload.parts for claim in part.claims if claim.of_gang}
    amounts = {name: f"{count}" for name, count in devices(claims.values()).items()}
    return [Asked(0, amounts, frozenset(), workload.at)] if amounts else []


def _hint(cluster: Cluster, workload: Workload, resource: str, *, own: bool) -> str:
    rule = cluster.queues.system.guarantee
    if rule and own:
        other = "say so by no label" if rule.label in workload.labels else f"give it a priority below {rule.priority}"
        return f"raise the quota, ask for less, or {other}"
    if "borrow" in cluster.queues.system.words:
        return HINT
    claims = (claim for part in workload.parts for claim in part.claims if not claim.shared)
    of_all = resource.endswith(DEVICES) and any(map(all_of, claims))
    return HINT_OF_ALL if of_all else "raise the quota, or ask for less"


def _job(cluster: Cluster, workload: Workload, queue: Queue) -> Iterator[Problem]:
    for one in _groups(cluster, workload, queue):
        quotas = [quota for quota in queue.quotas if quota.pool in one.pools]
        short = [_short(cluster, one, queue, quota) for quota in quotas]
        if not quotas:
            message = f'the queue "{queue.name}" has no quota of {quoted(one.pools)}, and lets none of the jobs in'
            yield Problem(where(one.at), ID, message, "give it one, or name pools that it has")
        elif all(short):
            yield Problem(where(one.at), ID, f'the queue "{queue.name}" never lets a job in: {short[0]}', HINT)


def _groups(cluster: Cluster, workload: Workload, queue: Queue) -> Iterator[Asked]:
    """What must find room in one quota: all roles that are in one place, and those that have the same quota only."""
    parts = _asked(cluster, workload, queue)
    if not _whole(cluster, workload):
        yield from parts
    elif workload.placement:
        shared = frozenset.intersection(*(part.pools for part in parts))
        # Of pools that they do not share the check of topologies speaks.
        yield from [_joined(parts, shared, workload.at)] if shared else []
    else:
        by_pools: dict[frozenset[str], list[Asked]] = {}
        for part in parts:
            open_to = (quota for quota in queue.quotas if quota.pool in part.pools)
            enough = frozenset(quota.pool for quota in open_to if not _short(cluster, part, queue, quota))
            by_pools.setdefault(enough, []).append(part)
        for pools, found in by_pools.items():
            yield from [_joined(found, pools, workload.at)] if len(pools) == 1 else found


def _short(cluster: Cluster, one: Asked, queue: Queue, quota: Quota) -> str:
    """What a quota lacks for one job; empty where it is enough."""
    for resource, wanted in one.amounts.items():
        most = room(cluster, queue, quota, resource)
        if worth(wanted) > most:
            return f'{one.who} for {wanted} {resource}, of "{quota.pool}" it has {spelt(most)}'
    return ""
