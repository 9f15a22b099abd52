"""Domains of NVLink: machines that it joins stand in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.pool import Pool
from kwokgen.model.topology import Level, Topology
from kwokgen.problem import Problem

ID = "nvlink-domain"
SUMMARY = "The machines of a domain of NVLink stand in one place of the topology, and no more than it joins"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """Pools of such machines that the tree would tear apart, or press together."""
    topology = cluster.topology
    if topology is None:
        return
    joined = [pool for pool in cluster.pools if pool.clique]
    if topology.nvlink:
        yield from _pressed(topology, topology.nvlink, joined)
    else:
        for pool in joined:
            yield from _torn(topology, pool)


def _pressed(topology: Topology, level: Level, pools: list[Pool]) -> Iterator[Problem]:
    """A place is one domain, whatever pools its nodes are of."""
    pos = topology.at.pos("levels", topology.levels.index(level), "nvlink")
    if not pools:
        message = "no pool has machines that NVLink joins, whose nodes tell their domain"
        yield Problem(pos, ID, message, "leave it out, or write gpuOperatorLabels: true at the pool of such machines")
        return
    held: Counter[str] = Counter()
    for pool in pools:
        held.update(topology.held(level, pool.name))
    place, most = max(held, key=lambda place: held[place]), min(pool.machine.nvlink for pool in pools)
    if held[place] > most:
        of = ", ".join(pool.name for pool in pools if place in topology.held(level, pool.name))
        message = f"{place} has {held[place]} nodes of {of}, a domain of NVLink joins {most}"
        yield Problem(pos, ID, message, "write nvlink: true at the level that is the rack")


def _torn(topology: Topology, pool: Pool) -> Iterator[Problem]:
    seats, machines = topology.seats[pool.name], pool.machine.nvlink
    for first in range(0, pool.count, machines):
        last = min(first + machines, pool.count) - 1
        leaves = sorted({seats.leaf(index) for index in range(first, last + 1)})
        if len(leaves) > 1:
            where = f"{topology.levels[-1].places[leaves[0]]} and {topology.levels[-1].places[leaves[-1]]}"
            message = f"the nodes {first} to {last} of {pool.name} are one domain of NVLink, and stand in {where}"
            hint = "write nvlink: true at the level whose places are the domains, or place: {pack: …}"
            yield Problem(pool.at.pos("place"), ID, message, hint)
            return
