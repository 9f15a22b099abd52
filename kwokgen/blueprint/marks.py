"""What is different on some devices of some nodes: taints, and devices that are missing."""

from __future__ import annotations

from itertools import groupby

from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.model.device import Mark
from kwokgen.model.place import Place
from kwokgen.model.taint import Taint

NAMES = {"devices": "device", "gpus": "GPU", "indexes": "index", "jobs": "job", "nodes": "node"}


def marks(scope: Scope, written: Data, at: Place, nodes: int, count: int) -> tuple[Mark, ...]:
    """Taints and missing devices."""
    done = []
    for section in ("taints", "missing"):
        items = written.get(section, ())
        for item, place in zip(items, places(at, section, items), strict=True):
            on = ranges(scope, item, "nodes", place, nodes)
            held = ranges(scope, item, "devices", place, count)
            indexes = frozenset(index for first, last in held for index in range(first, last + 1))
            taint = Taint(item["key"], item["effect"], item.get("value")) if section == "taints" else None
            done.append(Mark(on, indexes, taint, place))
    _some_left(scope, [mark for mark in done if mark.taint is None], count)
    return tuple(done)


def _some_left(scope: Scope, missing: list[Mark], count: int) -> None:
    # Whatever a node misses, it misses where the last of those stretches begins.
    for node in sorted({first for mark in missing for first, _ in mark.nodes}):
        held = [mark for mark in missing if mark.holds(node)]
        if len(frozenset[int]().union(*(mark.devices for mark in held))) == count:
            message = f"no device is left in the slices of the nodes, such as node {node}"
            scope.fail(held[-1].at.pos("devices"), "devices", message, "nodes without devices are another pool")
            return


def ranges(
    scope: Scope, item: Data, key: str, at: Place, count: int, *, code: str = "devices"
) -> tuple[tuple[int, int], ...]:
    """Indexes and ranges of them as ranges, all when nothing is written."""
    if key not in item:
        return ((0, count - 1),)
    done = []
    for number, written in enumerate(item[key]):
        first, _, last = str(written).partition("-")
        low, high = int(first), int(last or first)
        pos = at.pos(key, number)
        if low > high:
            scope.fail(pos, code, f"the range {written} ends before it begins", f"write {high}-{low}")
        elif high >= count:
            scope.fail(pos, code, f"there is no {NAMES[key]} {high}: they are 0 to {count - 1}")
        else:
            done.append((low, high))
    return tuple(done)


def runs(indexes: list[int]) -> tuple[tuple[int, int], ...]:
    """Ascending indexes as ranges."""
    found = (list(run) for _, run in groupby(enumerate(indexes), key=lambda pair: pair[1] - pair[0]))
    return tuple((run[0][1], run[-1][1]) for run in found)
