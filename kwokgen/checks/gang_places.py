"""Gangs within a level: some place of it has room for all pods that run at once."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.checks._room import grounds, rooms
from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Placement, Workload
from kwokgen.problem import Problem

ID = "gang-place"
SUMMARY = "Some place of the level that a gang must be within has room for it, when nothing else runs"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """Gangs that no place holds; what is counted is never less than a place has."""
    for workload in cluster.parts:
        if workload.placement and workload.placement.required:
            yield from _gang(cluster, workload, workload.placement)


def _gang(cluster: Cluster, workload: Workload, placement: Placement) -> Iterator[Problem]:
    each = {pool.name: min(room.pods for room in rooms(cluster, workload, pool).values()) for pool in workload.pools}
    room = (
        (place, sum(each[pool] * number for pool, number in nodes.items()))
        for place, nodes in grounds(cluster, workload)
    )
    place, most = max(room, key=lambda entry: entry[1], default=("", workload.parallelism))
    if most < workload.parallelism:
        message = f"{workload.parallelism} pods at once fit no {placement.within}: the most is {most}, in {place}"
        hint = "take a wider level, or fewer pods; as it is, the gang would wait for ever"
        yield Problem(workload.at.pos("placement", "within"), ID, message, hint)
