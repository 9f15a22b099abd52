"""The sorts of partition of a device: how many slices each covers, and which find room beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kwokgen.blueprint.scope import Scope, quantities
from kwokgen.model.amounts import times, worth
from kwokgen.model.place import Place


class Profile(NamedTuple):
    """A sort of partition: `size` slices that stand together, from one of `starts` on, at most `most` of a GPU."""

    name: str
    id: int
    size: int
    starts: tuple[int, ...]
    most: int
    capacity: Mapping[str, str]


class Table(NamedTuple):
    """The sorts of partition of a GPU of so many slices, by name."""

    slices: int
    profiles: Mapping[str, Profile]


Slot = tuple[Profile, int]
"""A profile and the slice that it begins at."""


def table(scope: Scope, data: Mapping[str, Any], at: Place) -> Table:
    """A table of the catalogue, or one written in a blueprint."""
    slices, done = data["slices"], {}
    for index, entry in enumerate(data["profiles"]):
        where = at.below("profiles", index)
        starts = tuple(entry.get("starts", range(0, slices - entry["size"] + 1, entry["size"])))
        if not starts or max(starts) + entry["size"] > slices:
            message = f"a partition of {entry['size']} slices does not fit {slices}"
            scope.fail(where.pos("starts") if starts else where.pos("size"), "partitions", message)
        capacity = quantities(entry.get("capacity", {}), where.below("capacity"))
        most = min(entry.get("most", len(starts)), len(starts))
        done[entry["name"]] = Profile(entry["name"], entry.get("id", index), entry["size"], starts, most, capacity)
    scope.distinct(
        data["profiles"], [at.below("profiles", index) for index, _ in enumerate(data["profiles"])], "profiles"
    )
    return Table(slices, done)


def totals(cuts: Table) -> dict[str, str]:
    """The most of each capacity: of the profile that is the whole GPU, or of as many as fill it."""
    filled = any(profile.size == cuts.slices for profile in cuts.profiles.values())
    done: dict[str, str] = {}
    for profile in cuts.profiles.values():
        factor = 1 if filled else cuts.slices // profile.size
        for name, value in profile.capacity.items():
            done[name] = max(done.get(name, "0"), times(value, factor), key=worth)
    return done


def placed(cuts: Table, wanted: list[Profile]) -> list[Slot] | None:
    """A place for every partition of one GPU, in the order of their starts; the GPU's capacities suffice for all."""
    for name, most in totals(cuts).items():
        if sum(worth(profile.capacity.get(name, "0")) for profile in wanted) > worth(most):
            return None
    if sum(profile.size for profile in wanted) > cuts.slices:
        return None
    largest_first = sorted(wanted, key=lambda profile: -profile.size)
    found = _places(largest_first, largest_first[0].starts, 0, set())
    return sorted(found, key=lambda slot: slot[1]) if found is not None else None


def _places(left: list[Profile], starts: tuple[int, ...], taken: int, dead: set[tuple[int, int]]) -> list[Slot] | None:
    """The first way to place what is `left`, the first of it at one of `starts`, beside the slices `taken`, a bit each.

    Partitions that are alike cover the same in any order, and the order of their starts is the one that comes first.
    `dead` are how many were left with which slices taken in vain.
    """
    if not left or (len(left), taken) in dead:
        return None if left else []
    first, rest = left[0], left[1:]
    alike = bool(rest) and (rest[0].size, rest[0].starts) == (first.size, first.starts)
    for number, start in enumerate(starts):
        covered = (1 << first.size) - 1 << start
        if not covered & taken:
            beyond = starts[number + 1 :] if alike else rest[0].starts if rest else ()
            if (more := _places(rest, beyond, taken | covered, dead)) is not None:
                return [(first, start), *more]
    dead.add((len(left), taken))
    return None
