"""Gangs within a level: some place of it has room for all pods that run at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from kwokgen.checks._room import rooms
from kwokgen.model.cluster import Cluster
from kwokgen.model.topology import Level, Topology
from kwokgen.model.workload import Workload
from kwokgen.problem import Problem

ID = "gang-place"
SUMMARY = "Some place of the level that a gang must be within has room for it, when nothing else runs"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """Gangs that no place holds; what is counted is never less than a place has."""
    # A place that goes unsaid holds nobody back.
    topology = cluster.topology if "placement" in cluster.queues.system.words else None
    for workload in cluster.parts:
        level = topology.level(workload.placement.within) if topology and workload.placement else None
        if topology and level and workload.placement and workload.placement.required:
            room = _room(cluster, topology, level, workload)
            place, most = max(room.items(), key=lambda entry: entry[1], default=("", 0))
            if most < workload.parallelism:
                message = f"{workload.parallelism} pods at once fit no {level.name}: the most is {most}, in {place}"
                pos = workload.at.pos("placement", "within")
                yield Problem(
                    pos, ID, message, "take a wider level, or fewer pods; as it is, the gang would wait for ever"
                )


def _room(cluster: Cluster, topology: Topology, level: Level, workload: Workload) -> Mapping[str, int]:
    """How many of its pods each place holds; Kueue has them all on nodes of one pool."""
    whole = cluster.queues.place and cluster.queues.system.form == "kueue"
    room: Counter[str] = Counter()
    for pool in workload.pools:
        each = min(found.pods for found in rooms(cluster, workload, pool).values())
        found = {place: nodes * each for place, nodes in topology.held(level, pool.name).items()}
        room = room | Counter(found) if whole else room + Counter(found)
    return room
