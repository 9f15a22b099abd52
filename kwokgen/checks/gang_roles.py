"""Gangs of several roles: all of their pods have room at once, those of one role beside those of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kwokgen.checks._packing import Nodes, packed
from kwokgen.checks._placing import Asked, Wanted, asked, empty, key, placed, short
from kwokgen.checks._room import Ground, grounds
from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Workload
from kwokgen.problem import Problem

ID = "gang-roles"
SUMMARY = "A gang of several roles has room at once, where nothing else runs and in one place if it must be: by its sums, and by first fit with the largest first"
WHOLE = True
HINT = "ask for less, or for other pools: as it is, it would wait for ever"
EVERYWHERE = ""
"""The place of those that may be anywhere."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """An error where there is not enough, a warning where only no place is found.

    Of a role that has no room alone the checks pod-node and gang-place speak.
    """
    for workload in cluster.workloads:
        within = grounds(cluster, workload) if workload.roles else ()
        places = [(place, nodes) for place, nodes in within if _of_all(workload, nodes)]
        if places or (workload.roles and workload.gang and not within):
            yield from _gang(cluster, workload, places)
        # Of Kueue, which has all of them on nodes of one pool, the check of topologies speaks.
        elif within and workload.placement and cluster.queues.system.form != "kueue":
            message = f"no {workload.placement.within} has nodes for all roles"
            yield Problem(workload.at.pos("placement"), ID, message, "take a wider level, or other pools")


def _of_all(workload: Workload, nodes: Mapping[str, int]) -> bool:
    return all(any(pool.name in nodes for pool in part.pools) for part in workload.roles)


def _gang(cluster: Cluster, workload: Workload, places: Sequence[Ground]) -> Iterator[Problem]:
    everywhere, wanted = empty(cluster, workload.roles), asked(cluster, workload.roles)
    by_pool = {node.pool: node for node in everywhere}
    alike = {frozenset(nodes.items()): place for place, nodes in places}
    within = [(place, {by_pool[pool]: number for pool, number in nodes}) for nodes, place in alike.items()]
    found: list[tuple[str, Nodes]] = [*within] or [(EVERYWHERE, everywhere)]
    pods = [(part, part.parallelism) for part in workload.roles]
    alone = all(any(not packed(nodes, wanted[key(part)], each)[1] for _, nodes in found) for part, each in pods)
    if alone and all(placed(nodes, pods, wanted)[1] for _, nodes in found):
        yield _crowded(workload, found, pods, wanted)


def _crowded(workload: Workload, places: Sequence[tuple[str, Nodes]], pods: Sequence[Wanted], wanted: Asked) -> Problem:
    large, most = max(places, key=lambda entry: sum(entry[1].values()))
    where = f" in one {workload.placement.within}" if large and workload.placement else ""
    what, pos = f"a gang of {workload.parallelism} pods", workload.at.pos("placement" if where else "gang")
    if all(short(nodes, pods, wanted) for _, nodes in places):
        sums = short(most, pods, wanted, f"{large} has" if where else "all nodes have")
        return Problem(pos, ID, f"{what} asks{where} for {sums}", HINT)
    how = f"its sums fit, but first fit with the largest first finds no place{where} for all of its roles"
    return Problem(pos, ID, f"{what} may never begin: {how}", HINT, "warning")
