"""Pods that run until they are deleted: their queue has quota for all of them at once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from kwokgen.checks import queue_jobs
from kwokgen.checks._quotas import bounds, has, room, taken, where
from kwokgen.model.amounts import spelt, worth
from kwokgen.model.cluster import Cluster
from kwokgen.model.queue import Queue
from kwokgen.model.workload import Workload
from kwokgen.problem import Problem, quoted

ID = "lasting-quota"
SUMMARY = "Queues have quota for all pods at once that run until they are deleted"
WHOLE = True
Pools = frozenset[str]


def check(cluster: Cluster) -> Iterator[Problem]:
    """A warning for each queue, at the pods with which they are too many."""
    lasting = [one for one in cluster.workloads if one.queue and not one.kind.ends and not one.suspend]
    refused = {problem.pos for problem in queue_jobs.check(cluster)} if lasting else set()
    for queue in cluster.queues.queues:
        own = [one for one in lasting if one.queue == queue.name and where(one.at) not in refused]
        parts = [part for one in own for part in one.parts if where(part.at) not in refused]
        bound = cluster.queues.system.form != "default" or cluster.home(queue.name)
        if bound and _short(cluster, queue, parts):
            yield _too_many(cluster, queue, parts)


def _too_many(cluster: Cluster, queue: Queue, parts: Sequence[Workload]) -> Problem:
    # Those that are too many stay so with more: of many workloads only a few beginnings are looked at.
    ends = range(1, len(parts) + 1)
    end = ends[bisect_left(ends, x=True, key=lambda end: bool(_short(cluster, queue, parts[:end])))]
    resource, said = _short(cluster, queue, parts[:end]) or ("", "")
    message = f'pods of the queue "{queue.name}" that run until they are deleted ask for {said}'
    more = "raise the quota" if resource in queue.total else "have more nodes"
    hint = f"make fewer, or {more}: some wait until somebody deletes others"
    return Problem(where(parts[end - 1].at), ID, message, hint, "warning")


def _short(cluster: Cluster, queue: Queue, parts: Sequence[Workload]) -> tuple[str, str] | None:
    """A resource of which all of them ask for more than there is, and how much."""
    if "pools" not in cluster.queues.system.words:
        asked, most = _sums(cluster, queue, parts), bounds(cluster, queue)
        over = next((name for name in asked if name in most and asked[name] > worth(most[name])), None)
        return (over, f"{spelt(asked[over])} {over}, {has(cluster, queue, over)}") if over else None
    return next(filter(None, (_short_of(cluster, queue, parts, pools) for pools in _sets(parts))), None)


def _short_of(cluster: Cluster, queue: Queue, parts: Sequence[Workload], pools: Pools) -> tuple[str, str] | None:
    """The same of those that may use these pools only."""
    asked = _sums(cluster, queue, [part for part in parts if pools.issuperset(pool.name for pool in part.pools)])
    most = _most(cluster, queue, pools)
    over = next((name for name in asked if name in most and asked[name] > most[name]), None)
    return (over, f"{spelt(asked[over])} {over}, of {quoted(pools)} it has {spelt(most[over])}") if over else None


def _sets(parts: Iterable[Workload]) -> list[Pools]:
    """Pools that pods are held to, and all of them together."""
    each = dict.fromkeys(frozenset(pool.name for pool in part.pools) for part in parts)
    return list(dict.fromkeys((*each, frozenset[str]().union(*each))))


def _most(cluster: Cluster, queue: Queue, pools: Pools) -> dict[str, Decimal]:
    quotas = [quota for quota in queue.quotas if quota.pool in pools]
    names = dict.fromkeys(name for quota in quotas for name in quota.all)
    return {name: sum((room(cluster, queue, quota, name) for quota in quotas), Decimal(0)) for name in names}


def _sums(cluster: Cluster, queue: Queue, parts: Iterable[Workload]) -> dict[str, Decimal]:
    done: dict[str, Decimal] = {}
    for part in parts:
        for name, each in taken(cluster, part, queue).items():
            done[name] = done.get(name, Decimal(0)) + worth(each) * part.count * part.pods
    return done
