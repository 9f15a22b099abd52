"""Pods that run until they are deleted: all of them have room at once, and what ends has some beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from kwokgen.checks._packing import Nodes, packed
from kwokgen.checks._placing import Asked, Wanted, asked, empty, key, placed, short
from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Workload
from kwokgen.problem import Problem

ID = "lasting-pods"
SUMMARY = "Pods that run until they are deleted have room at once, by first fit with the largest first, and leave some for what ends"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """A warning for each workload that would wait until somebody deletes another."""
    # Queues of other systems say themselves who waits.
    own = cluster.queues.form == "default"
    lasting = [(one, one.count * one.pods) for one in cluster.parts if own and not one.kind.ends and not one.suspend]
    if not lasting:
        return
    nodes, wanted = empty(cluster, cluster.parts), asked(cluster, cluster.parts)
    _, over = placed(nodes, lasting, wanted)
    yield from (_over(one, pods, _why(nodes, lasting, wanted)) for one, pods in over)
    if not over:
        yield from _beside(cluster, nodes, lasting, wanted)


def _why(nodes: Nodes, lasting: Sequence[Wanted], wanted: Asked) -> str:
    said = short(nodes, lasting, wanted)
    if not said:
        return "the sums fit, but first fit with the largest first finds no place for all"
    return f"those that run until they are deleted ask for {said}"


def _over(workload: Workload, over: int, why: str) -> Problem:
    message = f"no room for {over} of {workload.count * workload.pods} pods: {why}"
    return Problem(workload.at.pos(), ID, message, "make fewer, or more nodes", "warning")


def _beside(cluster: Cluster, nodes: Nodes, lasting: Sequence[Wanted], wanted: Asked) -> Iterator[Problem]:
    """What had room on empty nodes, and has none beside the pods that it does not put out."""

    @cache
    def left(priority: int) -> Nodes:
        return placed(nodes, [each for each in lasting if (each[0].priority or 0) >= priority], wanted)[0]

    for one in cluster.parts:
        pods = one.parallelism if one.gang else 1
        ending = one.kind.ends and not one.suspend and not packed(nodes, wanted[key(one)], pods)[1]
        if ending and packed(left(one.priority or 0), wanted[key(one)], pods)[1]:
            what = "a gang" if one.gang else "a pod"
            message = f"{what} has no room beside the pods that run until they are deleted, packed by first fit"
            yield Problem(one.at.pos(), ID, message, "make fewer of those, or more nodes", "warning")
