"""Pods on nodes, first fit with the largest first: what it places has room, what it does not may have some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

Amounts = Mapping[str, Decimal]
"""By resource, or device class."""


class Nodes(NamedTuple):
    """So many nodes of a pool that have the same left."""

    pool: str
    free: Amounts
    number: int

    def holds(self, asked: Amounts) -> int:
        """How many more pods each of them has room for."""
        return min((int(self.free.get(name, 0) // amount) for name, amount in asked.items()), default=0)

    def less(self, asked: Amounts, pods: int, number: int) -> Nodes:
        """Some of them with so many pods more."""
        taken = {name: amount * pods for name, amount in asked.items()}
        return Nodes(self.pool, {name: has - taken.get(name, 0) for name, has in self.free.items()}, number)


def size(nodes: Sequence[Nodes], asked: Mapping[str, Amounts]) -> Decimal:
    """The part of an empty node that a pod takes, of what it takes most of, where that is the least."""
    return min((_part(each, asked[each.pool]) for each in nodes if each.pool in asked), default=Decimal(0))


def _part(nodes: Nodes, asked: Amounts) -> Decimal:
    parts = (amount / nodes.free[name] for name, amount in asked.items() if nodes.free.get(name))
    return max(parts, default=Decimal(0))


def packed(nodes: Sequence[Nodes], asked: Mapping[str, Amounts], pods: int) -> tuple[list[Nodes], int]:
    """What is left of the nodes with pods that ask for so much by pool, and how many pods found no room.

    Nodes that hold the fewest more come first.
    """
    room = {id(each): each.holds(asked[each.pool]) if each.pool in asked else 0 for each in nodes}
    done: list[Nodes] = []
    for each in sorted(nodes, key=lambda one: room[id(one)]):
        parts, pods = _filled(each, asked.get(each.pool, {}), room[id(each)], pods)
        done += parts
    return done, pods


def _filled(nodes: Nodes, asked: Amounts, room: int, pods: int) -> tuple[Iterator[Nodes], int]:
    """The nodes, full as far as there are pods, and the pods that are over."""
    full = min(nodes.number, pods // room) if room else 0
    over = pods - full * room
    last = over if room and full < nodes.number else 0
    parts = (
        nodes.less(asked, room, full),
        nodes.less(asked, last, 1 if last else 0),
        nodes._replace(number=nodes.number - full - (1 if last else 0)),
    )
    return (part for part in parts if part.number), over - last
