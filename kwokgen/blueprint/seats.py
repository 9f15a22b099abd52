"""Seats: which place of the topology each node of a pool has, by its index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.model.place import Place
from kwokgen.model.topology import Level, Seats, leaves_of
from kwokgen.problem import Pos, unknown

Queue = list[tuple[int, int]]
"""Leaves that are filled one after the other, each with the nodes that it has room for."""


class Tree(NamedTuple):
    """The levels from the widest on, and how many nodes each leaf holds."""

    levels: tuple[Level, ...]
    nodes: tuple[int, ...]


@dataclass(slots=True, eq=False, repr=False)
class _Taken:
    """What pools before have: how many nodes of each in a leaf, and all leaves that they could have."""

    nodes: dict[int, dict[str, int]] = field(default_factory=dict)
    reach: set[int] = field(default_factory=set)

    def of(self, leaf: int) -> int:
        return sum(self.nodes.get(leaf, {}).values())

    def add(self, pool: str, seats: Seats, reach: Iterable[int]) -> None:
        self.reach.update(reach)
        for leaf, number in seats.held().items():
            self.nodes.setdefault(leaf, {})[pool] = number


def seats(scope: Scope, spec: Data, at: Place, tree: Tree) -> Mapping[str, Seats]:
    """The seats of each pool, in the order of the blueprint."""
    taken, done = _Taken(), {}
    for item, where in zip(spec["pools"], places(at, "pools", spec["pools"]), strict=True):
        found = _seated(scope, item, where, tree, taken)
        if found:
            done[item["name"]] = found
    return done


def _seated(scope: Scope, item: Data, at: Place, tree: Tree, taken: _Taken) -> Seats | None:
    if not scope.intact(at):
        scope.doubtful.add("topology")
        return None
    written, pos = item.get("place", {}), at.pos("place") if "place" in item else at.pos("count")
    wanted = _wanted(scope, written, at.below("place"), tree)
    if wanted is None:
        return None
    leaves = [leaf for group in wanted for leaf in group]
    queues = _queues(written, wanted, tree, taken)
    room = sum(nodes for queue in queues for _, nodes in queue)
    if item["count"] > room:
        _full(scope, pos, f"there is room for {room} of the pool's {item['count']} nodes", written)
        return None
    if "spread" not in written and "start" not in written and not taken.reach.isdisjoint(leaves):
        message = "the nodes stand where pools before leave places free, and move when these grow"
        scope.warn(pos, "topology", message, _start(wanted, queues[0], tree))
    found = dealt(queues, item["count"])
    taken.add(item["name"], found, leaves)
    _crowded(scope, pos, tree, taken, found)
    return found


def _full(scope: Scope, pos: Pos, message: str, written: Data) -> None:
    hint = "write more places, or fewer nodes"
    if "pack" in written and "start" not in written:
        hint = f'no "{written["pack"]}" counts that has nodes of pools before; without place, what is free in them does'
    scope.fail(pos, "topology", message, hint)


def _start(wanted: list[list[int]], queue: Queue, tree: Tree) -> str:
    """A hint, with the start that keeps the nodes where they are, if they begin with a place of their own."""
    first, free = next(((leaf, nodes) for leaf, nodes in queue if nodes), (-1, 0))
    begins = [group[0] for group in wanted]
    such = f", such as {begins.index(first)}" if first in begins and free == tree.nodes[first] else ""
    return f"write place with a start{such}: it stays however many nodes other pools have"


def _wanted(scope: Scope, written: Data, at: Place, tree: Tree) -> list[list[int]] | None:
    """The leaves of each place of the level that is named, from the first to use on."""
    if "spread" in written and "pack" in written:
        message = "nodes are spread over the places of a level, or fill one after the other"
        scope.fail(at.key("pack"), "topology", message, "write spread, or pack")
        return None
    word = "spread" if "spread" in written else "pack"
    level = _level(scope, written, at, word, tree) if word in written else tree.levels[-1]
    if level is None:
        return None
    under = _under(scope, written["under"], at.pos("under"), tree) if "under" in written else range(len(tree.nodes))
    if under is None:
        return None
    groups: dict[int, list[int]] = {}
    for leaf in under:
        groups.setdefault(level.of[leaf], []).append(leaf)
    start = written.get("start", 0)
    if start >= len(groups):
        message = f'there is no "{level.name}" {start} there: they are 0 to {len(groups) - 1}'
        scope.fail(at.pos("start"), "topology", message)
        return None
    return list(groups.values())[start:]


def _level(scope: Scope, written: Data, at: Place, word: str, tree: Tree) -> Level | None:
    named = {level.name: level for level in tree.levels}
    if written[word] not in named:
        scope.problems.append(unknown(at.pos(word), "level", written[word], named, code="topology"))
    return named.get(written[word])


def _under(scope: Scope, place: str, pos: Pos, tree: Tree) -> list[int] | None:
    leaves = leaves_of(tree.levels, place)
    if leaves is None:
        names = [name for level in tree.levels for name in level.places]
        scope.problems.append(unknown(pos, "place", place, names, code="topology"))
    return leaves


def _queues(written: Data, wanted: list[list[int]], tree: Tree, taken: _Taken) -> list[Queue]:
    """What is filled in turn: the whole of each place where the blueprint says it, else what is free of them."""
    if "spread" in written:
        return [[(leaf, tree.nodes[leaf]) for leaf in group] for group in wanted]
    if "start" in written:
        return [[(leaf, tree.nodes[leaf]) for group in wanted for leaf in group]]
    if "pack" in written:
        wanted = [group for group in wanted if not any(taken.of(leaf) for leaf in group)]
    return [[(leaf, max(0, tree.nodes[leaf] - taken.of(leaf))) for group in wanted for leaf in group]]


def _crowded(scope: Scope, pos: Pos, tree: Tree, taken: _Taken, found: Seats) -> None:
    """Notes the first leaf that pools before have nodes in where this one's would stand."""
    for leaf in sorted(found.held()):
        if taken.of(leaf) > tree.nodes[leaf]:
            who = ", ".join(f"{number} of {pool}" for pool, number in taken.nodes[leaf].items())
            message = f"{tree.levels[-1].places[leaf]} holds {tree.nodes[leaf]} nodes, and would have {who}"
            scope.fail(pos, "topology", message, "write another place: {start: …}, or without start what is free")
            return


def dealt(queues: list[Queue], count: int) -> Seats:
    """Nodes dealt to the queues in turn, each of which fills its leaves in order, as long as there is room."""
    left = [[list(entry) for entry in reversed(queue) if entry[1]] for queue in queues]
    firsts: list[int] = []
    cycles: list[tuple[int, ...]] = []
    index = 0
    while index < count:
        left = [queue for queue in left if queue]
        rounds = min(queue[-1][1] for queue in left)
        cycle = tuple(queue[-1][0] for queue in left)
        firsts.append(index)
        cycles.append(cycle)
        index += rounds * len(cycle)
        for queue in left:
            queue[-1][1] -= rounds
            if not queue[-1][1]:
                queue.pop()
    return Seats(tuple(firsts), tuple(cycles), count)
