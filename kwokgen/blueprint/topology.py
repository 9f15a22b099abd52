"""The topology: its tree from levels, the labels of its schemes, and the seats of the pools."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from kwokgen.blueprint.schemes import keys_of, labels, node_keys
from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.blueprint.seats import Tree, seats
from kwokgen.model.place import Place
from kwokgen.model.topology import Level, Topology
from kwokgen.problem import errors, unknown

MOST_LEAVES = 131_072


def resolve(scope: Scope, spec: Data, at: Place) -> Topology | None:
    """The topology; None for a blueprint without, or with a mistake in it, of which nothing more can be said."""
    if "topology" not in spec:
        for pool, where in zip(spec["pools"], places(at, "pools", spec["pools"]), strict=True):
            if "place" in pool and "topology" not in scope.doubtful:
                message = "the blueprint has no topology to stand in"
                scope.fail(where.key("place"), "topology", message, "leave it out, or write topology")
        return None
    before = len(errors(scope.problems))
    # Of a tree that lost a part, places and sizes are others than were meant.
    made = None if "topology" in scope.doubtful else _made(scope, spec, at)
    if len(errors(scope.problems)) == before and "topology" not in scope.doubtful:
        return made
    scope.doubtful.add("topology")
    return None


def _made(scope: Scope, spec: Data, at: Place) -> Topology | None:
    item, where = spec["topology"], at.below("topology")
    scope.distinct(item["levels"], places(where, "levels", item["levels"]), "levels")
    tree = _tree(scope, spec, at)
    if tree is None:
        return None
    schemes = keys_of(scope, item, where, tree.levels)
    levels = tuple(
        level._replace(keys=tuple(scheme.keys[level.name] for scheme in schemes if level.name in scheme.keys))
        for level in tree.levels
    )
    flagged = [level for level, each in zip(levels, item["levels"], strict=True) if each["nvlink"]]
    if len(flagged) > 1:
        pos = where.pos("levels", levels.index(flagged[1]), "nvlink")
        scope.fail(pos, "topology", f'"{flagged[0].name}" has the domains of NVLink already', "one level says nvlink")
    return Topology(
        levels=levels,
        nodes=tree.nodes,
        labels=labels(scope, where, levels, schemes),
        node_keys=node_keys(schemes),
        nvlink=flagged[0] if flagged else None,
        seats=seats(scope, spec, at, tree),
        at=where,
    )


class _Widened(NamedTuple):
    """The places of a level and the number of the one above each of them."""

    places: tuple[str, ...]
    above: tuple[int, ...]


def _tree(scope: Scope, spec: Data, at: Place) -> Tree | None:
    """Every level with its places, and the nodes of each leaf."""
    items, where = spec["topology"]["levels"], places(at.below("topology"), "levels", spec["topology"]["levels"])
    if not _said(scope, items, where):
        return None
    grown = [_Widened(("",), ())]
    for item, place in zip(items, where, strict=True):
        counts = _counts(scope, item, place, len(grown[-1].places), spec)
        if counts is None:
            return None
        grown.append(_below(grown[-1].places, counts, item["name"]))
    nodes = _nodes(scope, items[-1], where[-1], grown[-1].places)
    return Tree(_levels(items, grown[1:]), nodes) if nodes else None


def _said(scope: Scope, items: list[Data], where: list[Place]) -> bool:
    """Whether every level says what it must."""
    sound = True
    for item, place in zip(items, where, strict=True):
        narrowest = item is items[-1]
        for key in ("nodes", "except") if not narrowest else ():
            if key in item:
                hint = f'"{items[-1]["name"]}" is it; what is wider holds what those below it hold'
                scope.fail(place.key(key), "topology", "only the narrowest level says how many nodes it holds", hint)
                sound = False
        missing = "nodes" if narrowest else "count"
        if missing not in item:
            text = "how many nodes each holds" if narrowest else "how many each of the level above has"
            scope.fail(place.pos(), "topology", f'missing key "{missing}": {text}')
            sound = False
    return sound


def _counts(scope: Scope, item: Data, at: Place, parents: int, spec: Data) -> list[int] | None:
    """How many of a level each of the one above has."""
    written = item.get("count")
    if written is None:
        written = _needed(scope, item, at, parents, spec)
    counts = written if isinstance(written, list) else [written] * parents
    if len(counts) != parents:
        message = f"{len(counts)} numbers for the {parents} of the level above"
        scope.fail(at.pos("count"), "topology", message, "write a number for each, or one for all")
        return None
    if sum(counts) > MOST_LEAVES:
        message = f"{sum(counts):,} of one level, {MOST_LEAVES:,} is the most"
        scope.fail(at.pos("count"), "topology", message)
        return None
    return counts


def _needed(scope: Scope, item: Data, at: Place, parents: int, spec: Data) -> int:
    """As many of the narrowest level as the nodes need: they stand elsewhere when that grows."""
    if isinstance(item["nodes"], list):
        return ceil(len(item["nodes"]) / parents)
    starts = [(pool.get("place", {}).get("start", 0), pool["count"]) for pool in spec["pools"]]
    nodes = max(1, sum(count for _, count in starts), *(start * item["nodes"] + count for start, count in starts))
    count: int = ceil(nodes / item["nodes"] / parents)
    if parents > 1 or any("spread" in pool.get("place", {}) for pool in spec["pools"]):
        message = f'without count, "{item["name"]}" has the {count} that the pools need, and nodes move when they grow'
        scope.warn(at.pos(), "topology", message, f"write count: {count}")
    return count


def _below(parents: tuple[str, ...], counts: list[int], name: str) -> _Widened:
    inner = [
        (f"{parent}/{name}-{index}".removeprefix("/"), number)
        for number, (parent, count) in enumerate(zip(parents, counts, strict=True))
        for index in range(count)
    ]
    return _Widened(tuple(place for place, _ in inner), tuple(number for _, number in inner))


def _nodes(scope: Scope, item: Data, at: Place, leaves: tuple[str, ...]) -> tuple[int, ...] | None:
    written = item["nodes"]
    nodes = list(written) if isinstance(written, list) else [written] * len(leaves)
    if len(nodes) != len(leaves):
        message = f'{len(nodes)} numbers of nodes for the {len(leaves)} of "{item["name"]}"'
        scope.fail(at.pos("nodes"), "topology", message, "write a number for each, or one for all")
        return None
    numbers = {place: number for number, place in enumerate(leaves)}
    for place, held in item.get("except", {}).items():
        if place in numbers:
            nodes[numbers[place]] = held
        else:
            scope.problems.append(unknown(at.key("except", place), "place", place, leaves, code="topology"))
    return tuple(nodes)


def _levels(items: list[Data], grown: list[_Widened]) -> tuple[Level, ...]:
    """The levels with the number of each leaf's place in them."""
    of = tuple(range(len(grown[-1].places)))
    done: list[Level] = []
    for item, each in zip(reversed(items), reversed(grown), strict=True):
        done.insert(0, Level(item["name"], each.places, of, ()))
        of = tuple(each.above[number] for number in of)
    return tuple(done)
