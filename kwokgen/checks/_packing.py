"""Pods on nodes, first fit with the largest first: what it places has room, what it does not may have some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

Amounts = Mapping[str, int]
"""By resource, or device class, in thousandths."""


class Node(NamedTuple):
    """What a node of a pool has left of each of `names`."""

    pool: str
    names: tuple[str, ...]
    free: tuple[int, ...]

    def holds(self, asked: Amounts) -> int:
        """How many more pods it has room for."""
        has = zip(self.names, self.free, strict=True)
        return min((free // asked[name] for name, free in has if asked.get(name)), default=0)

    def less(self, asked: Amounts, pods: int) -> Node:
        """It with so many pods more."""
        has = zip(self.names, self.free, strict=True)
        return self._replace(free=tuple(free - asked.get(name, 0) * pods for name, free in has))


Nodes = Mapping[Node, int]
"""How many nodes there are of each sort."""


def size(nodes: Nodes, asked: Mapping[str, Amounts]) -> Fraction:
    """The part of an empty node that a pod takes, of what it takes most of, where that is the least."""
    return min((_part(node, asked[node.pool]) for node in nodes if node.pool in asked), default=Fraction(0))


def _part(node: Node, asked: Amounts) -> Fraction:
    has = zip(node.names, node.free, strict=True)
    return max((Fraction(asked.get(name, 0), free) for name, free in has if free), default=Fraction(0))


def packed(nodes: Nodes, asked: Mapping[str, Amounts], pods: int) -> tuple[Nodes, int]:
    """What is left of the nodes with pods that ask for so much by pool, and how many pods found no room.

    Nodes that hold the fewest more come first.
    """
    room = {node: node.holds(asked[node.pool]) for node in nodes if node.pool in asked}
    done = Counter(nodes)
    for node in sorted((node for node in room if room[node]), key=room.__getitem__):
        for each, number in _filled(room[node], nodes[node], pods):
            done[node] -= number
            done[node.less(asked[node.pool], each)] += number
            pods -= each * number
    return +done, pods


def _filled(room: int, number: int, pods: int) -> Iterator[tuple[int, int]]:
    """How many pods each of so many nodes gets: all that it holds, and the last one the rest."""
    full = min(number, pods // room)
    if full:
        yield room, full
    if full < number and pods % room:
        yield pods % room, 1


def summed(nodes: Nodes, wanted: Sequence[tuple[Mapping[str, Amounts], int]]) -> tuple[str, int, int] | None:
    """A resource of which so many pods ask for more than all nodes have, with both sums."""
    for name in dict.fromkeys(name for node in nodes for name in node.names):
        asked = sum(min((each.get(name, 0) for each in by_pool.values()), default=0) * pods for by_pool, pods in wanted)
        held = (dict(zip(node.names, node.free, strict=True)).get(name, 0) * number for node, number in nodes.items())
        if asked > (has := sum(held)):
            return name, asked, has
    return None
