"""Objects of one identity, of one bundle or of several that go to one cluster: the second takes the first one's place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from kwokgen.problem import Pos, Problem, Related
from kwokgen.series import Join, Run, Series, Slot, filled

CODE = "duplicate-object"
ALIKE = {"CustomResourceDefinition"}
"""What is the same in every bundle."""
HINTS = {
    "Node": "give the pool another name or nodeName here",
    "DeviceClass": "say deviceClasses: [{{name: {name}, create: false}}] here",
}


class _Names(NamedTuple):
    """The names of a document in all runs of a series: the same but for what stands between `before` and `after`."""

    series: Series
    name: Any
    runs: tuple[Run, ...]
    before: str
    after: str

    @property
    def rows(self) -> int:
        return sum(run.rows for run in self.runs)

    def all(self) -> Iterator[str]:
        indexes = (index for run in self.runs for index in range(run.first, run.last + 1))
        return (filled(self.name, self.series.columns, index) for index in indexes)

    def ends_like(self, other: _Names) -> bool:
        """Whether a name of both is possible, as to its end."""
        return self.after.endswith(other.after) or other.after.endswith(self.after)


def within(series: Sequence[Series]) -> Iterator[Problem]:
    """Objects of one identity in a bundle, at what made the second."""
    # Of Stages, which may also stand in a configuration, `stagenames` says it.
    for (_, kind, _), named in ((key, named) for key, named in _named(series).items() if key[1] != "Stage"):
        for earlier, later in sorted(_meeting(named)):
            first, second = named[earlier], named[later]
            if same := _same(first, second):
                related = (Related(first.series.at.pos(), "made it first"),)
                message = f'{kind} "{same}" is made twice'
                yield Problem(second.series.at.pos(), CODE, message, related=related)


def between(bundles: Mapping[str, Sequence[Series]]) -> Iterator[Problem]:
    """Objects of one identity in two bundles by name, at what made the second."""
    held: dict[tuple[str, str, str], list[_Names]] = {}
    of: dict[int, str] = {}
    for bundle, series in bundles.items():
        for key, named in _named(_streamed(series)).items():
            of |= {id(names): bundle for names in named}
            held.setdefault(key, []).extend(named)
    # What else a pool or a workload makes is named after its nodes or jobs, and DeviceClasses after the driver.
    told: set[tuple[Pos, bool]] = set()
    for (_, kind, _), both in held.items():
        for earlier, later in sorted(_meeting(both)) if kind not in ALIKE else ():
            first, second = both[earlier], both[later]
            where = (second.series.at.pos(), kind == "DeviceClass")
            if of[id(first)] != of[id(second)] and where not in told and (same := _same(first, second)):
                told.add(where)
                yield _shared(kind, same, of[id(first)], first, second)


def _streamed(series: Sequence[Series]) -> Sequence[Series]:
    """Jobs of waves are in a folder only."""
    return [one for one in series if not one.parts]


def _shared(kind: str, name: str, bundle: str, first: _Names, second: _Names) -> Problem:
    message = f'the bundle "{bundle}" has the {kind} "{name}" as well'
    hint = HINTS.get(kind, "give it another name here").format(name=name)
    related = (Related(first.series.at.pos(), "made it first"),)
    return Problem(second.series.at.pos(), CODE, message, f"{hint}, or take a folder for each: -o DIR", related=related)


def _meeting(named: Sequence[_Names]) -> Iterator[tuple[int, int]]:
    """The pairs that may have a name in common: what one begins with is how the other's beginning begins."""
    # In the order of their beginnings, all that begin with another's follow it.
    begun: list[int] = []
    for index in sorted(range(len(named)), key=lambda index: named[index].before):
        while begun and not named[index].before.startswith(named[begun[-1]].before):
            begun.pop()
        yield from ((min(index, other), max(index, other)) for other in begun if named[index].ends_like(named[other]))
        begun.append(index)


def _named(series: Sequence[Series]) -> dict[tuple[str, str, str], list[_Names]]:
    done: dict[tuple[str, str, str], list[_Names]] = {}
    for one in series:
        for (key, _, _), (name, runs) in _by_name(one).items():
            # The rows differ in an index, whose digits are all that two names of a series need not share.
            first, last = (filled(name, one.columns, index) for index in (runs[0].first, runs[-1].last))
            before, after = _common(first, last), _common(first[::-1], last[::-1])[::-1]
            if runs[0].first < runs[-1].last:
                before, after = before.rstrip("0123456789"), after.lstrip("0123456789")
            done.setdefault(key, []).append(_Names(one, name, tuple(runs), before, after))
    return done


def _by_name(series: Series) -> dict[tuple[tuple[str, str, str], int, Any], tuple[Any, list[Run]]]:
    """The runs of a series that name a document alike: each row of them has another name."""
    done: dict[Any, tuple[Any, list[Run]]] = {}
    for run in series.runs:
        for index, document in enumerate(run.shape.documents):
            meta = document["metadata"]
            key = (document["apiVersion"].rpartition("/")[0], document["kind"], meta.get("namespace", ""))
            done.setdefault((key, index, _alike(meta["name"])), (meta["name"], []))[1].append(run)
    return done


def _alike(name: Any) -> Any:
    """What two names have in common that differ in nothing but their row."""
    if isinstance(name, Slot):
        return (name.column,)
    return tuple(_alike(part) for part in name.parts) if isinstance(name, Join) else name


def _common(first: str, second: str) -> str:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return "".join(character for character, _ in pairs)


def _same(first: _Names, second: _Names) -> str | None:
    smaller, larger = sorted((first, second), key=lambda names: names.rows)
    names = set(smaller.all())
    return next((name for name in larger.all() if name in names), None)
