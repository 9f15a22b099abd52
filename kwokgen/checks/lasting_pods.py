"""Pods that run until they are deleted: all of them have room at once, and what ends has some beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from math import ceil

from kwokgen.checks._packing import Amounts, Node, Nodes, packed, size, summed
from kwokgen.checks._room import open_nodes, rooms
from kwokgen.model.amounts import worth
from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Workload
from kwokgen.problem import Problem

ID = "lasting-pods"
SUMMARY = "Pods that run until they are deleted have room at once, by first fit with the largest first, and leave some for what ends"
WHOLE = True
Key = tuple[str, str]
"""The name of a workload, and of a role."""
Asked = Mapping[Key, Mapping[str, Amounts]]
"""What each pod asks for, by its workload and role, and by pool."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """A warning for each workload that would wait until somebody deletes another."""
    # Queues of other systems say themselves who waits.
    own = not cluster.queues.queues or cluster.queues.system.form == "default"
    lasting = [one for one in cluster.parts if own and not one.kind.ends and not one.suspend]
    if not lasting:
        return
    asked = {_key(one): _asked(cluster, one) for one in cluster.parts}
    empty = _nodes(cluster)
    lasting.sort(key=lambda one: size(empty, asked[_key(one)]), reverse=True)
    _, over = _placed(empty, lasting, asked)
    yield from (_over(one, pods, _why(empty, lasting, asked)) for one, pods in over)
    if not over:
        yield from _beside(cluster, empty, lasting, asked)


def _key(workload: Workload) -> Key:
    return workload.name, workload.role


def _nodes(cluster: Cluster) -> Nodes:
    """The nodes that take pods, with everything that any workload asks of them."""
    done: dict[Node, int] = {}
    for pool in cluster.pools:
        known = (rooms(cluster, one, pool) for one in cluster.parts if pool in one.pools)
        free = {name: int(worth(room.has) * 1000) for found in known for name, room in found.items()}
        done[Node(pool.name, tuple(free), tuple(free.values()))] = open_nodes(cluster, pool)
    return done


def _asked(cluster: Cluster, workload: Workload) -> Mapping[str, Amounts]:
    return {
        pool.name: {name: ceil(worth(room.asked) * 1000) for name, room in rooms(cluster, workload, pool).items()}
        for pool in workload.pools
    }


def _placed(nodes: Nodes, lasting: Sequence[Workload], asked: Asked) -> tuple[Nodes, list[tuple[Workload, int]]]:
    """What is left of the nodes, and of whom how many pods found no room."""
    over = []
    for one in lasting:
        nodes, pods = packed(nodes, asked[_key(one)], one.count * one.pods)
        if pods:
            over.append((one, pods))
    return nodes, over


def _why(nodes: Nodes, lasting: Sequence[Workload], asked: Asked) -> str:
    sums = summed(nodes, [(asked[_key(one)], one.count * one.pods) for one in lasting])
    if sums is None:
        return "the sums fit, but first fit with the largest first finds no place for all"
    name, wanted, has = sums
    return f"those that run until they are deleted ask for {_text(wanted)} {name}, all nodes have {_text(has)}"


def _over(workload: Workload, over: int, why: str) -> Problem:
    message = f"no room for {over} of {workload.count * workload.pods} pods: {why}"
    return Problem(workload.at.pos(), ID, message, "make fewer, or more nodes", "warning")


def _beside(cluster: Cluster, empty: Nodes, lasting: Sequence[Workload], asked: Asked) -> Iterator[Problem]:
    """What had room on empty nodes, and has none beside the pods that it does not put out."""

    @cache
    def left(priority: int) -> Nodes:
        return _placed(empty, [one for one in lasting if (one.priority or 0) >= priority], asked)[0]

    for one in cluster.parts:
        pods = one.parallelism if one.gang else 1
        ending = one.kind.ends and not one.suspend and not packed(empty, asked[_key(one)], pods)[1]
        if ending and packed(left(one.priority or 0), asked[_key(one)], pods)[1]:
            what = "a gang" if one.gang else "a pod"
            message = f"{what} has no room beside the pods that run until they are deleted, packed by first fit"
            yield Problem(one.at.pos(), ID, message, "make fewer of those, or more nodes", "warning")


def _text(thousandths: int) -> str:
    return f"{(Decimal(thousandths) / 1000).normalize():f}"
