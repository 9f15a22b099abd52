"""The topology: one tree of places for nodes, and where each pool's nodes stand in it.

A node's place is arithmetic on its index: the seats of a pool are a few stretches of indexes, and nothing is kept a node.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from kwokgen.model.place import Place
from kwokgen.model.ranges import Ranges


class Seats(NamedTuple):
    """Where the nodes of a pool stand: from each of `firsts` on, they are dealt in turn over the leaves of a cycle.

    A leaf is a place of the narrowest level, by its number through the tree. `count` is how many nodes there are.
    """

    firsts: tuple[int, ...]
    cycles: tuple[tuple[int, ...], ...]
    count: int  # type: ignore[assignment]  # over the method of tuples

    def leaf(self, index: int) -> int:
        """The leaf of a node."""
        stretch = bisect_right(self.firsts, index) - 1
        cycle = self.cycles[stretch]
        return cycle[(index - self.firsts[stretch]) % len(cycle)]

    def column(self, texts: tuple[str, ...]) -> Callable[[int], str]:
        """The text of each node's leaf."""
        firsts, cycles = self.firsts, self.cycles

        def text(index: int) -> str:
            stretch = bisect_right(firsts, index) - 1
            cycle = cycles[stretch]
            return texts[cycle[(index - firsts[stretch]) % len(cycle)]]

        return text

    def stretches(self) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """Each stretch of indexes, both ends included, with its cycle."""
        for (first, after), cycle in zip(pairwise((*self.firsts, self.count)), self.cycles, strict=True):
            yield first, after - 1, cycle

    def held(self) -> dict[int, int]:
        """How many of the nodes stand in each leaf that has any."""
        done: dict[int, int] = {}
        for first, last, cycle in self.stretches():
            rounds, rest = divmod(last - first + 1, len(cycle))
            for number, leaf in enumerate(cycle[: last - first + 1]):
                done[leaf] = done.get(leaf, 0) + rounds + (number < rest)
        return done


class Level(NamedTuple):
    """A level: its places by name (`spine-1/leaf-3`), the number of the one above each leaf, and its labels' keys.

    `keys` are in the order of the schemes; the first is what constraints refer to.
    """

    name: str
    places: tuple[str, ...]
    of: tuple[int, ...]
    keys: tuple[str, ...]


def leaves_of(levels: tuple[Level, ...], place: str) -> list[int] | None:
    """The leaves in a place, in order; None where no level has it."""
    level = next((level for level in levels if place in level.places), None)
    if level is None:
        return None
    number = level.places.index(place)
    return [leaf for leaf, above in enumerate(level.of) if above == number]


class Label(NamedTuple):
    """Labels of one value: their keys, and the value for each leaf."""

    keys: tuple[str, ...]
    texts: tuple[str, ...]


class Topology(NamedTuple):
    """The tree: `levels` from the widest to the narrowest, `nodes` how many each leaf holds, `seats` by pool.

    `node_keys` are labels whose value is the node's name; `nvlink` is the level whose places are domains of NVLink.
    """

    levels: tuple[Level, ...]
    nodes: tuple[int, ...]
    labels: tuple[Label, ...]
    node_keys: tuple[str, ...]
    nvlink: Level | None
    seats: Mapping[str, Seats]
    at: Place

    def level(self, name: str) -> Level | None:
        """The level of a name."""
        return next((level for level in self.levels if level.name == name), None)

    def held(self, level: Level, pool: str) -> dict[str, int]:
        """How many nodes of a pool stand in each place of a level that has any."""
        done: dict[str, int] = {}
        for leaf, number in self.seats[pool].held().items():
            place = level.places[level.of[leaf]]
            done[place] = done.get(place, 0) + number
        return done

    def ranges(self, place: str) -> dict[str, Ranges]:
        """The indexes of the nodes in a place (`spine-1`, `spine-1/leaf-3`), for each pool that has any there.

        Raises KeyError when the tree has no such place.
        """
        leaves = leaves_of(self.levels, place)
        if leaves is None:
            raise KeyError(place)
        found = {pool: tuple(_within(seats, {*leaves})) for pool, seats in self.seats.items()}
        return {pool: ranges for pool, ranges in found.items() if ranges}


def _within(seats: Seats, leaves: set[int]) -> Iterator[tuple[int, int]]:
    """The ranges of nodes in some leaves; ranges that touch are one."""
    begun: tuple[int, int] | None = None
    for first, last in _pieces(seats, leaves):
        if begun and first == begun[1] + 1:
            begun = (begun[0], last)
            continue
        if begun:
            yield begun
        begun = (first, last)
    if begun:
        yield begun


def _pieces(seats: Seats, leaves: set[int]) -> Iterator[tuple[int, int]]:
    for first, last, cycle in seats.stretches():
        if leaves.issuperset(cycle):
            yield first, last
        elif not leaves.isdisjoint(cycle):
            kept = [number for number, leaf in enumerate(cycle) if leaf in leaves]
            for start in range(first, last + 1, len(cycle)):
                yield from ((start + number, start + number) for number in kept if start + number <= last)
