"""Domains of NVLink: machines that it joins stand in one place."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.pool import Pool
from kwokgen.model.topology import Level, Topology
from kwokgen.problem import Problem

ID = "nvlink-domain"
SUMMARY = "The machines of a domain of NVLink stand in one place of the topology, and no more than it joins"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Pools of such machines that the tree would tear apart, or press together."""
    if cluster.topology is None:
        return
    for pool in cluster.pools:
        if pool.clique and cluster.topology.nvlink:
            yield from _pressed(cluster.topology, cluster.topology.nvlink, pool)
        elif pool.clique:
            yield from _torn(cluster.topology, pool)


def _pressed(topology: Topology, level: Level, pool: Pool) -> Iterator[Problem]:
    held = topology.held(level, pool.name)
    place = max(held, key=lambda place: held[place])
    if held[place] > pool.machine.nvlink:
        message = f"{place} has {held[place]} nodes of {pool.name}, a domain of NVLink joins {pool.machine.nvlink}"
        pos = topology.at.pos("levels", topology.levels.index(level), "nvlink")
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
