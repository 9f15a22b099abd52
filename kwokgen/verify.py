"""Series held against the API's schemas and rules, each shape once, filled with its longest row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

from kwokgen import apirules, apischema, devicerules, metarules, resources
from kwokgen.conform import shortened
from kwokgen.model.cluster import Cluster, Patch
from kwokgen.model.place import Place
from kwokgen.patches import means
from kwokgen.problem import Pos, Problem, Related
from kwokgen.series import Document, Join, Run, Series, Slot, filled

Path = tuple[str | int, ...]
Finding = apirules.Finding
OPAQUE = ("opaque", "parameters")
"""What is a driver's, and may be anything."""


def verify(cluster: Cluster, series: Sequence[Series]) -> tuple[Problem, ...]:
    """Every object that the API server would refuse, drop or change, at the place that asked for it."""
    blame = _Blame(cluster)
    problems: list[Problem] = []
    for one in series:
        for rows in _rows(one):
            found = list(_found(cluster, rows))
            problems += [_problem(blame, one, row, finding) for row, finding in found]
            # The annotations of an object that is wrong may be anything.
            problems += [problem for row in rows if not found for problem in _large(one, row)]
    return (*problems, *_twice(series))


def _rows(series: Series) -> Iterator[list[Document]]:
    """The documents of each shape, once."""
    seen: set[int] = set()
    for run in series.runs:
        if id(run.shape) not in seen:
            seen.add(id(run.shape))
            # Names only grow with the index, so the last row has the longest.
            yield [filled(document, series.columns, run.last) for document in run.shape.documents]


def _found(cluster: Cluster, rows: Sequence[Document]) -> Iterator[tuple[Document, Finding]]:
    found = [(row, finding) for row in rows for finding in _findings(cluster, row)]
    # The rules of a pool read slices that are right.
    yield from found or devicerules.pool_findings([said(row) for row in rows])


def _large(series: Series, document: Document) -> Iterator[Problem]:
    """Client-side apply keeps the object in an annotation, which has a limit."""
    if not apirules.fits_an_annotation(document):
        message = f"{document['kind']} {document['metadata']['name']} has more than {metarules.MOST_ANNOTATIONS} bytes"
        hint = "kubectl apply needs --server-side for it, as the bundle's README says"
        yield Problem(series.at.pos(), "large-object", message, hint, "warning")


def _findings(cluster: Cluster, document: Document) -> Iterable[Finding]:
    empty = tuple((path, "null in a list takes nothing away: leave the key out") for path in _nulls(document, ()))
    # To the server a key without a value is not there: https://pkg.go.dev/encoding/json#Unmarshal
    present = said(document)
    found = empty or tuple(apischema.findings(present, cluster.kubernetes.minor))
    # The rules read fields that only an object of the right shape has.
    return found or tuple(apirules.findings(present, cluster.kubernetes))


def _nulls(value: Any, path: Path, *, listed: bool = False) -> Iterator[Path]:
    if value is None and listed:
        yield path
    elif isinstance(value, dict) and path[-2:] != OPAQUE:
        for key, below in value.items():
            yield from _nulls(below, (*path, key), listed=listed)
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _nulls(below, (*path, index), listed=True)


def said(value: Any) -> Any:
    """A document without the keys that have no value."""
    if isinstance(value, dict):
        return {key: said(below) for key, below in value.items() if below is not None}
    return [said(below) for below in value] if isinstance(value, list) else value


def _problem(blame: _Blame, series: Series, document: Document, finding: Finding) -> Problem:
    path, message, *hints = finding
    hint = "".join(hints)
    name = f"{document['kind']} {document['metadata'].get('name', '')}"
    dotted = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    text = f"{shortened(name)}: {dotted}: {message}" if dotted else f"{shortened(name)}: {message}"
    patch = blame.patch(series, document, path)
    if patch:
        return Problem(_deepest(patch.at, path, message), "refused", text, hint, related=(_asked(series.at.pos()),))
    # A module, or the catalogue file of a template.
    by = series.by if series.by.endswith(".yaml") else series.by.replace(".", "/") + ".py"
    writer = Related(Pos(by), "wrote the object")
    return Problem(series.at.pos(), "refused", text, hint, related=(writer,))


def _asked(pos: Pos) -> Related:
    return Related(pos, "asked for the object")


@dataclass(slots=True, eq=False, repr=False)
class _Blame:
    """Who made an object wrong: a patch that wrote the part, or one that wrote what the part must agree with."""

    cluster: Cluster
    before: dict[Pos, set[Path]] = field(default_factory=dict)

    def patch(self, series: Series, document: Document, path: Path) -> Patch | None:
        """The last patch that wrote a path or something that holds it, or without which nothing was wrong there."""
        meant = [patch for patch in self.cluster.patches if means(patch, series.pool, document)]
        wrote = [patch for patch in meant if _reaches(patch.merge, path)]
        if meant and not wrote and path not in self._before(series.at.pos()):
            nearest = max(_shared(patch.merge, path) for patch in meant)
            wrote = [patch for patch in meant if _shared(patch.merge, path) == nearest]
        return wrote[-1] if wrote else None

    def _before(self, pos: Pos) -> set[Path]:
        """What is wrong at a place without any patch."""
        if pos not in self.before:
            rows = (rows for one in resources.build(self.cluster) if one.at.pos() == pos for rows in _rows(one))
            self.before[pos] = {found[0] for each in rows for _, found in _found(self.cluster, each)}
        return self.before[pos]


def _shared(merge: Any, path: Path) -> int:
    """How many steps of a path a merge goes along."""
    if not path or not isinstance(merge, Mapping) or path[0] not in merge:
        return 0
    return 1 + _shared(merge[path[0]], path[1:])


def _reaches(merge: Any, path: Path) -> bool:
    for step in path:
        if not hasattr(merge, "get") or step not in merge:
            return not hasattr(merge, "get")
        merge = merge[step]
    return True


def _deepest(at: Place, path: Path, message: str) -> Pos:
    # The value of a key that should not be there says less than the key.
    return at.key("merge", *path) if message.startswith("unknown field") else at.pos("merge", *path)


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


def _twice(series: Sequence[Series]) -> Iterator[Problem]:
    """Objects of one identity."""
    # Of Stages, which may also stand in a configuration, `stagenames` says it.
    for (_, kind, _), named in ((key, named) for key, named in _named(series).items() if key[1] != "Stage"):
        for earlier, later in sorted(_meeting(named)):
            first, second = named[earlier], named[later]
            if same := _same(first, second):
                related = (Related(first.series.at.pos(), "made it first"),)
                message = f'{kind} "{same}" is made twice'
                yield Problem(second.series.at.pos(), "duplicate-object", message, related=related)


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
