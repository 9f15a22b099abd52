"""Series held against the API's schemas and rules, each shape once, filled with its longest row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kwokgen import apirules, apischema, devicerules, duplicates, metarules, resources
from kwokgen.conform import shortened
from kwokgen.mergepatch import reaches
from kwokgen.model.cluster import Cluster, Patch
from kwokgen.model.place import Place
from kwokgen.patches import means
from kwokgen.problem import Pos, Problem, Related
from kwokgen.series import Document, Series, filled

Path = tuple[str | int, ...]
Finding = apirules.Finding
OPAQUE = ("opaque", "parameters")
"""What is a driver's, and may be anything."""


def verify(cluster: Cluster, series: Sequence[Series]) -> tuple[Problem, ...]:
    """Every object that the API server would refuse, drop or change, at the place that asked for it."""
    if not apischema.known(minor := cluster.kubernetes.minor):
        message = f"there are no schemas of Kubernetes {minor} to hold the objects against"
        hint = "they come with kubernetes-validate: name a minor that it has"
        return (Problem(cluster.at.below("spec").pos("kubernetes"), "catalog", message, hint),)
    blame = _Blame(cluster)
    problems: list[Problem] = []
    for one in series:
        for rows in _rows(one):
            found = list(_found(cluster, rows))
            problems += [_problem(blame, one, row, finding) for row, finding in found]
            # The annotations of an object that is wrong may be anything.
            problems += [problem for row in rows if not found for problem in _large(one, row)]
    return (*problems, *duplicates.within(series))


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
    found: tuple[Finding, ...] = empty or tuple(apischema.findings(present, cluster.kubernetes.minor))
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
        wrote = [patch for patch in meant if reaches(patch.merge, path)]
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


def _deepest(at: Place, path: Path, message: str) -> Pos:
    # The value of a key that should not be there says less than the key.
    return at.key("merge", *path) if message.startswith("unknown field") else at.pos("merge", *path)
