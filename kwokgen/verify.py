"""Series held against the API's schemas and rules, each shape once, filled with its longest row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kwokgen import apirules, apischema
from kwokgen.conform import shortened
from kwokgen.model.cluster import Cluster, Patch
from kwokgen.model.place import Place
from kwokgen.problem import KwokgenError, Pos, Problem, Related
from kwokgen.series import Document, Series, filled

Path = tuple[str | int, ...]
Finding = tuple[Path, str]


def verify(cluster: Cluster, series: Sequence[Series]) -> None:
    """Raises KwokgenError when the API server would refuse, drop or change an object, naming what asked for it."""
    problems: list[Problem] = []
    for one in series:
        seen: set[int] = set()
        for run in one.runs:
            if id(run.shape) in seen:
                continue
            seen.add(id(run.shape))
            for document in run.shape.documents:
                # Names only grow with the index, so the last row has the longest.
                row = filled(document, one.columns, run.last)
                problems += [_problem(cluster, one, row, finding) for finding in _findings(cluster, row)]
    problems += _twice(series)
    if problems:
        raise KwokgenError(*problems)


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
        return Problem(_deepest(patch.at, path), "refused", text, related=(_asked(series.at.pos()),))
    writer = Related(Pos(series.by.replace(".", "/") + ".py"), "wrote the object")
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


def _deepest(at: Place, path: Path) -> Pos:
    return at.pos("merge", *path)


def _twice(series: Sequence[Series]) -> Iterator[Problem]:
    """Objects of one identity; stamped ones are told apart by the names of pools and workloads."""
    seen: dict[tuple[str, str, str, str], Series] = {}
    for one in series:
        for run in one.runs:
            for document in run.shape.documents if run.rows == 1 else ():
                meta = filled(document["metadata"], one.columns, run.first)
                group = document["apiVersion"].rpartition("/")[0]
                key = (group, document["kind"], meta.get("namespace", ""), meta["name"])
                if key in seen:
                    message = f'{key[1]} "{key[3]}" is made twice'
                    related = (Related(seen[key].at.pos(), "made it first"),)
                    yield Problem(one.at.pos(), "duplicate-object", message, related=related)
                seen.setdefault(key, one)
