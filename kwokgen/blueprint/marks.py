"""What is different on some devices of some nodes: taints, and devices that are missing."""

from __future__ import annotations

from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.model.device import Mark
from kwokgen.model.place import Place
from kwokgen.model.taint import Taint


def marks(scope: Scope, written: Data, at: Place, nodes: int, count: int) -> tuple[Mark, ...]:
    """Taints and missing devices."""
    done = []
    for section in ("taints", "missing"):
        items = written.get(section, ())
        for item, place in zip(items, places(at, section, items), strict=True):
            on = _ranges(scope, item, "nodes", place, nodes)
            held = _ranges(scope, item, "devices", place, count)
            indexes = frozenset(index for first, last in held for index in range(first, last + 1))
            taint = Taint(item["key"], item["effect"], item.get("value")) if section == "taints" else None
            done.append(Mark(on, indexes, taint, place))
    _some_left(scope, [mark for mark in done if mark.taint is None], count)
    return tuple(done)


def _some_left(scope: Scope, missing: list[Mark], count: int) -> None:
    for mark in missing:
        for first, _ in mark.nodes:
            lost = frozenset[int]().union(*(other.devices for other in missing if other.holds(first)))
            if len(lost) == count and mark is [other for other in missing if other.holds(first)][-1]:
                hint = "nodes without devices are another pool"
                message = "no device is left in the slices of the nodes"
                scope.fail(mark.at.pos("devices"), "devices", message, hint)
                return


def _ranges(scope: Scope, item: Data, key: str, at: Place, count: int) -> tuple[tuple[int, int], ...]:
    """Indexes and ranges of them as ranges, all when nothing is written."""
    if key not in item:
        return ((0, count - 1),)
    done = []
    for number, written in enumerate(item[key]):
        first, _, last = str(written).partition("-")
        low, high = int(first), int(last or first)
        pos = at.pos(key, number)
        if low > high:
            scope.fail(pos, "devices", f"the range {written} ends before it begins", f"write {high}-{low}")
        elif high >= count:
            scope.fail(pos, "devices", f"there is no {key.removesuffix('s')} {high}: they are 0 to {count - 1}")
        else:
            done.append((low, high))
    return tuple(done)
