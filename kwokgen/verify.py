"""Series held against the API's schemas and rules, each shape once, filled with its longest row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, takewhile
from typing import Any, NamedTuple

from kwokgen import apirules, apischema, devicerules
from kwokgen.conform import shortened
from kwokgen.model.cluster import Cluster, Patch
from kwokgen.model.place import Place
from kwokgen.problem import Pos, Problem, Related
from kwokgen.series import Document, Run, Series, filled

Path = tuple[str | int, ...]
Finding = tuple[Path, str]


def verify(cluster: Cluster, series: Sequence[Series]) -> tuple[Problem, ...]:
    """Every object that the API server would refuse, drop or change, at the place that asked for it."""
    problems: list[Problem] = []
    for one in series:
        seen: set[int] = set()
        for run in one.runs:
            if id(run.shape) in seen:
                continue
            seen.add(id(run.shape))
            # Names only grow with the index, so the last row has the longest.
            rows = [filled(document, one.columns, run.last) for document in run.shape.documents]
            found = [(row, finding) for row in rows for finding in _findings(cluster, row)]
            found += () if found else devicerules.pool_findings(rows)
            problems += [_problem(cluster, one, row, finding) for row, finding in found]
            problems += [problem for row in rows for problem in _large(one, row)]
    return (*problems, *_twice(series))


def _large(series: Series, document: Document) -> Iterator[Problem]:
    """Client-side apply keeps the object in an annotation, which has a limit."""
    if not apirules.fits_an_annotation(document):
        message = f"{document['kind']} {document['metadata']['name']} has more than {apirules.MOST_ANNOTATIONS} bytes"
        hint = "kubectl apply needs --server-side for it, as the bundle's README says"
        yield Problem(series.at.pos(), "large-object", message, hint, "warning")


def _findings(cluster: Cluster, document: Document) -> Iterable[Finding]:
    found = tuple(apischema.findings(document, cluster.kubernetes.minor))
    # The rules read fields that only an object of the right shape has.
    return found or tuple(apirules.findings(document, cluster.kubernetes))


def _problem(cluster: Cluster, series: Series, document: Document, finding: Finding) -> Problem:
    path, message = finding
    name = f"{document['kind']} {document['metadata'].get('name', '')}"
    dotted = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    text = f"{shortened(name)}: {dotted}: {message}" if dotted else f"{shortened(name)}: {message}"
    patch = _patch(cluster.patches, document["kind"], path)
    if patch:
        return Problem(_deepest(patch.at, path, message), "refused", text, related=(_asked(series.at.pos()),))
    # A module, or the catalogue file of a template.
    by = series.by if series.by.endswith(".yaml") else series.by.replace(".", "/") + ".py"
    writer = Related(Pos(by), "wrote the object")
    return Problem(series.at.pos(), "refused", text, related=(writer,))


def _asked(pos: Pos) -> Related:
    return Related(pos, "asked for the object")


def _patch(patches: Sequence[Patch], kind: str, path: Path) -> Patch | None:
    """The last patch that wrote a path, or something that holds it."""
    found: Patch | None = None
    for patch in patches:
        if patch.kind == kind and _reaches(patch.merge, path):
            found = patch
    return found


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
    """The names of a run's document: the same for all rows but for what stands between `before` and `after`."""

    series: Series
    run: Run
    name: Any
    before: str
    after: str

    def all(self) -> Iterator[str]:
        return (filled(self.name, self.series.columns, index) for index in range(self.run.first, self.run.last + 1))

    def meets(self, other: _Names) -> bool:
        """Whether a name of both is possible."""
        begins = self.before.startswith(other.before) or other.before.startswith(self.before)
        return begins and (self.after.endswith(other.after) or other.after.endswith(self.after))


def _twice(series: Sequence[Series]) -> Iterator[Problem]:
    """Objects of one identity."""
    for (_, kind, _), named in _named(series).items():
        for first, second in combinations(named, 2):
            if first.meets(second) and (same := _same(first, second)):
                related = (Related(first.series.at.pos(), "made it first"),)
                message = f'{kind} "{same}" is made twice'
                yield Problem(second.series.at.pos(), "duplicate-object", message, related=related)


def _named(series: Sequence[Series]) -> dict[tuple[str, str, str], list[_Names]]:
    done: dict[tuple[str, str, str], list[_Names]] = {}
    for one in series:
        for run in one.runs:
            for document in run.shape.documents:
                meta = document["metadata"]
                key = (document["apiVersion"].rpartition("/")[0], document["kind"], meta.get("namespace", ""))
                # The rows of a run differ in an index, whose digits are all that two names of it need not share.
                first, last = (filled(meta["name"], one.columns, index) for index in (run.first, run.last))
                before, after = _common(first, last), _common(first[::-1], last[::-1])[::-1]
                if run.rows > 1:
                    before, after = before.rstrip("0123456789"), after.lstrip("0123456789")
                done.setdefault(key, []).append(_Names(one, run, meta["name"], before, after))
    return done


def _common(first: str, second: str) -> str:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return "".join(character for character, _ in pairs)


def _same(first: _Names, second: _Names) -> str | None:
    smaller, larger = sorted((first, second), key=lambda names: names.run.rows)
    names = set(smaller.all())
    return next((name for name in larger.all() if name in names), None)
