"""Times: one, or a range that one is drawn from; how Stages say them, and what pods may say instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

from kwokgen import formats
from kwokgen.blueprint.scope import Data, Scope
from kwokgen.draw import draw
from kwokgen.model.length import Arrival, Length
from kwokgen.model.lifecycle import Time, in_seconds
from kwokgen.model.place import Place
from kwokgen.problem import quoted

SORTS: Mapping[str, tuple[str, ...]] = {
    "range": ("min", "max"),
    "exponential": ("exponential",),
    "lognormal": ("lognormal",),
    "one": ("of",),
}
"""By what a length is drawn from, the words for it."""
PRIME = 67_108_859
"""The largest below 2^26: its squares are whole numbers to every jq."""


def fixed(written: str) -> Time:
    """A time that is not drawn."""
    return Time(formats.milliseconds(written), formats.milliseconds(written))


def read(scope: Scope, written: Any, at: Place, key: str, code: str) -> Time:
    """A time of the blueprint, with its problems noted."""
    if isinstance(written, str):
        return fixed(written)
    shortest, longest = formats.milliseconds(written["min"]), formats.milliseconds(written["max"])
    if shortest > longest:
        message = f"the shortest {key} {written['min']} is above the longest {written['max']}"
        scope.fail(at.pos(key, "min"), code, message)
    return Time(shortest, max(shortest, longest))


def length(scope: Scope, written: Any, at: Place, key: str, code: str) -> Length:
    """What a length is drawn from, with its problems noted."""
    if isinstance(written, str):
        return Length("range", fixed(written))
    sorts = [sort for sort, words in SORTS.items() if not written.keys().isdisjoint(words)]
    if "sigma" in written and "lognormal" not in written:
        scope.fail(
            at.key(key, "sigma"), code, "only a lognormal distribution has a sigma", "write lognormal, or leave it out"
        )
    elif len(sorts) > 1:
        message = f"{key} is drawn from one thing, not from {quoted(sorted(written))}"
        scope.fail(at.pos(key), code, message, "keep one of them")
    if "range" in sorts:
        return Length("range", read(scope, _whole(scope, written, at, key, code), at, key, code))
    if "one" in sorts:
        return Length("one", tuple(map(formats.milliseconds, written["of"])))
    return _distribution(scope, written, at, key, code)


def arrival(scope: Scope, item: Data, at: Place) -> Arrival | None:
    """When the jobs of a workload come; None where all are there at once."""
    if "arrival" not in item:
        return None
    written, where = item["arrival"], at.below("arrival")
    if item["count"] == 1:
        message = "one job comes after no other: it would only be late"
        scope.warn(where.pos("every"), "workload", message, "raise count, or leave arrival out")
    every = length(scope, written["every"], where, "every", "workload")
    return Arrival(formats.milliseconds(written["start"]), every)


def _whole(scope: Scope, written: Any, at: Place, key: str, code: str) -> Any:
    """A range with both of its bounds."""
    if written.keys() >= {"min", "max"}:
        return written
    missing = "max" if "min" in written else "min"
    scope.fail(at.pos(key), code, f'missing key "{missing}": a range has two bounds', "or a time alone")
    return written.get("min") or written["max"]


def _distribution(scope: Scope, written: Any, at: Place, key: str, code: str) -> Length:
    sort: Literal["exponential", "lognormal"] = "exponential" if "exponential" in written else "lognormal"
    typical = formats.milliseconds(written.get(sort, "1s"))
    if not typical:
        scope.fail(at.pos(key, sort), code, f"of {written[sort]} all that is drawn would be 0", "such as 30s")
    return Length(sort, (max(1, typical),), Decimal(str(written.get("sigma", 1))))


def bound(expression: str, kind: str, times: Mapping[str, Time], drawing: tuple[int, str]) -> str:
    """The jq expression with the times that it names bound to seconds, a pod's own before those of its lifecycle.

    `drawing` is the seed, and what is drawn for.
    """
    used = [time for time in times if re.search(rf"\${time}\b", expression)]
    return "".join(f"{seconds(time, kind, times[time], drawing)} as ${time} | " for time in used) + expression


def seconds(name: str, kind: str, time: Time, drawing: tuple[int, str]) -> str:
    """In jq the seconds that a time lasts for an object: its own, else the drawn or the fixed ones."""
    drawn = time.shortest < time.longest
    value = _drawn(name, time, drawing) if drawn else in_seconds(time.shortest)
    if kind != "Pod":
        return f"({value})" if drawn else value
    before, default = (f"{value} as $drawn | ", "$drawn") if drawn else ("", value)
    return f'({before}.metadata.annotations["kwokgen.io/{name}-seconds"] | try tonumber catch {default})'


def _drawn(name: str, time: Time, drawing: tuple[int, str]) -> str:
    """In jq a number that follows from the seed and the object's name, or from the host name that an index has."""
    seed, what = drawing
    first = draw(seed, "time", f"{what}/{name}") % PRIME
    # The square parts the numbers of neighbours, which the sum leaves side by side.
    number = f".spec.hostname // .metadata.name | reduce explode[] as $c ({first}; (. * 31 + $c) % {PRIME}) | . * . % {PRIME}"
    return f"({number} | . / {PRIME} * {in_seconds(time.longest - time.shortest)} + {in_seconds(time.shortest)})"
