"""Pods that run until they are deleted: all of them have room at once, and what ends has some beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from kwokgen.checks._packing import Amounts, Nodes, packed, size
from kwokgen.checks._room import open_nodes, rooms
from kwokgen.model.amounts import worth
from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Workload
from kwokgen.problem import Problem

ID = "lasting-pods"
SUMMARY = "Pods that run until they are deleted have room at once, by first fit with the largest first, and leave some for what ends"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """A warning for each workload that would wait until somebody deletes another."""
    # Queues of other systems say themselves who waits.
    own = not cluster.queues.queues or cluster.queues.system.form == "default"
    lasting = [one for one in cluster.workloads if own and not one.kind.ends and not one.suspend]
    if not lasting:
        return
    asked = {one.name: _asked(cluster, one) for one in cluster.workloads}
    empty = _nodes(cluster)
    nodes, short = empty, False
    for one in sorted(lasting, key=lambda one: size(empty, asked[one.name]), reverse=True):
        nodes, over = packed(nodes, asked[one.name], one.count * one.pods)
        short |= bool(over)
        if over:
            yield _over(one, over, _summed(lasting, asked, empty))
    for one in () if short else cluster.workloads:
        if one.kind.ends and _highest(lasting) >= (one.priority or 0):
            yield from _beside(one, asked[one.name], empty, nodes)


def _nodes(cluster: Cluster) -> list[Nodes]:
    """The nodes that take pods, with everything that any workload asks of them."""
    done = []
    for pool in cluster.pools:
        known = (rooms(cluster, one, pool) for one in cluster.workloads if pool in one.pools)
        free = {name: worth(room.has) for found in known for name, room in found.items()}
        done.append(Nodes(pool.name, free, open_nodes(cluster, pool)))
    return done


def _asked(cluster: Cluster, workload: Workload) -> Mapping[str, Amounts]:
    """By pool, what each of its pods asks for."""
    return {
        pool.name: {name: worth(room.asked) for name, room in rooms(cluster, workload, pool).items()}
        for pool in workload.pools
    }


def _summed(lasting: list[Workload], asked: Mapping[str, Mapping[str, Amounts]], nodes: list[Nodes]) -> str:
    """The resource of which they ask for more than there is; empty where the sums fit."""
    for name in dict.fromkeys(name for each in nodes for name in each.free):
        wanted = sum((_least(asked[one.name], name) * one.count * one.pods for one in lasting), Decimal(0))
        has = sum((each.free.get(name, Decimal(0)) * each.number for each in nodes), Decimal(0))
        if wanted > has:
            return f"those that run until they are deleted ask for {_text(wanted)} {name}, all nodes have {_text(has)}"
    return ""


def _least(asked: Mapping[str, Amounts], name: str) -> Decimal:
    return min((amounts.get(name, Decimal(0)) for amounts in asked.values()), default=Decimal(0))


def _over(workload: Workload, over: int, summed: str) -> Problem:
    why = summed or "the sums fit, but first fit with the largest first finds no place for all"
    message = f"no room for {over} of {workload.count * workload.pods} pods: {why}"
    return Problem(workload.at.pos(), ID, message, "make fewer, or more nodes", "warning")


def _highest(lasting: list[Workload]) -> int:
    return max(one.priority or 0 for one in lasting)


def _beside(
    workload: Workload, asked: Mapping[str, Amounts], empty: list[Nodes], nodes: list[Nodes]
) -> Iterator[Problem]:
    """What had room on empty nodes, and has none beside those pods."""
    pods = workload.parallelism if workload.gang else 1
    if packed(empty, asked, pods)[1] == 0 and packed(nodes, asked, pods)[1]:
        what = "a gang" if workload.gang else "a pod"
        message = f"{what} has no room beside the pods that run until they are deleted, packed by first fit"
        yield Problem(workload.at.pos(), ID, message, "make fewer of those, or more nodes", "warning")


def _text(amount: Decimal) -> str:
    return f"{amount.normalize():f}"
