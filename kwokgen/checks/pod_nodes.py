"""Workloads that fit no node, and gangs that do not fit all nodes together: their pods would be Pending for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kwokgen.checks._room import Room, of_claims, open_nodes, rooms
from kwokgen.model.amounts import worth
from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Workload
from kwokgen.problem import Pos, Problem, quoted

ID = "pod-node"
SUMMARY = "Some node has all that a pod asks for, and all nodes what a gang does, when nothing else runs"
WHOLE = True
HINT = "ask for less, or for other pools: as it is, they would wait for ever"
ByPool = Mapping[str, Mapping[str, Room]]


def check(cluster: Cluster) -> Iterator[Problem]:
    """Workloads none of whose jobs could ever begin."""
    for workload in cluster.parts:
        by_pool = {pool.name: rooms(cluster, workload, pool) for pool in workload.pools}
        most = {name: min(room.pods for room in found.values()) for name, found in by_pool.items()}
        nodes = {pool.name: open_nodes(cluster, pool) for pool in workload.pools}
        together = sum(most[name] * nodes[name] for name in by_pool)
        if by_pool and not any(most.values()):
            yield from _nowhere(workload, by_pool)
        elif by_pool and not any(nodes.values()):
            message = f"all nodes of {quoted(nodes)} are born with a fault that keeps pods off"
            yield Problem(workload.at.pos(), ID, message, "let it begin later (start), or name other pools")
        elif workload.gang and workload.placement is None and together < workload.parallelism:
            message = f"a gang of {workload.parallelism} pods has not room at once: all nodes together hold {together}"
            yield Problem(workload.at.pos("gang"), ID, message, HINT)


def _nowhere(workload: Workload, by_pool: ByPool) -> Iterator[Problem]:
    names = {name for found in by_pool.values() for name in found}
    never = sorted(name for name in names if not any(found[name].pods for found in by_pool.values() if name in found))
    for name in never:
        room = max((found[name] for found in by_pool.values() if name in found), key=lambda room: worth(room.has))
        # Of one claim that is more than any of these nodes has, claim-pool and claim-nodes speak.
        if not any(of_claims([claim])[name] > worth(room.has) for claim in workload.claims):
            message = f"a pod asks for {room.asked} {name}, no node of {quoted(by_pool)} has more than {room.has}"
            yield Problem(_pos(workload, name), ID, message, HINT)
    if not never and not _of_one_claim(workload, by_pool):
        short = {pool: next(name for name in found if not found[name].pods) for pool, found in by_pool.items()}
        said = ", ".join(f"{pool} too little {name}" for pool, name in short.items())
        yield Problem(workload.at.pos(), ID, f"no node has all that a pod asks for: {said}", HINT)


def _of_one_claim(workload: Workload, by_pool: ByPool) -> bool:
    """Whether one claim alone is more than any node has, of which claim-pool and claim-nodes speak."""
    wanted = [of_claims([claim]) for claim in workload.claims]
    return any(
        all(any(each[name] > worth(room.has) for name, room in found.items()) for found in by_pool.values())
        for each in wanted
    )


def _pos(workload: Workload, name: str) -> Pos:
    """Where a resource was asked for."""
    for _, at in workload.containers:
        if at.raw("resources", name):
            return at.pos("resources", name)
    asked = "claims" if workload.claims and name not in workload.requests else "gpus"
    return workload.at.pos(asked)
