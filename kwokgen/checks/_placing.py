"""Pods of workloads on the nodes of a cluster, packed by first fit with the largest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import ceil

from kwokgen.checks._packing import Amounts, Node, Nodes, packed, size, summed
from kwokgen.checks._room import open_nodes, rooms
from kwokgen.model.amounts import spelt, worth
from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Workload

Key = tuple[str, str]
"""The name of a workload, and of a role."""
Asked = Mapping[Key, Mapping[str, Amounts]]
"""What each pod asks for, by its workload and role, and by pool."""
Wanted = tuple[Workload, int]
"""So many pods of a part of a workload."""


def key(part: Workload) -> Key:
    """What a part is known by."""
    return part.name, part.role


def empty(cluster: Cluster, parts: Sequence[Workload]) -> Nodes:
    """The nodes that take pods, with everything that any of the parts asks of them."""
    done: dict[Node, int] = {}
    for pool in cluster.pools:
        known = (rooms(cluster, part, pool) for part in parts if pool in part.pools)
        free = {name: int(worth(room.has) * 1000) for found in known for name, room in found.items()}
        done[Node(pool.name, tuple(free), tuple(free.values()))] = open_nodes(cluster, pool)
    return done


def asked(cluster: Cluster, parts: Sequence[Workload]) -> Asked:
    """What pods of the parts ask for."""
    return {
        key(part): {
            pool.name: {name: ceil(worth(room.asked) * 1000) for name, room in rooms(cluster, part, pool).items()}
            for pool in part.pools
        }
        for part in parts
    }


def placed(nodes: Nodes, wanted: Sequence[Wanted], asked: Asked) -> tuple[Nodes, list[Wanted]]:
    """What is left of the nodes, and of whom how many pods found no room."""
    over = []
    for part, pods in sorted(wanted, key=lambda each: size(nodes, asked[key(each[0])]), reverse=True):
        nodes, rest = packed(nodes, asked[key(part)], pods)
        if rest:
            over.append((part, rest))
    return nodes, over


def short(nodes: Nodes, wanted: Sequence[Wanted], asked: Asked, who: str = "all nodes have") -> str:
    """What all of them ask for more of than there is; empty where only their places are not found."""
    sums = summed(nodes, [(asked[key(part)], pods) for part, pods in wanted])
    if sums is None:
        return ""
    name, want, has = sums
    return f"{spelt(Decimal(want) / 1000)} {name}, {who} {spelt(Decimal(has) / 1000)}"
