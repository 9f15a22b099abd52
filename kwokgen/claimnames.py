"""Claims that patches give to pods: a name that the bundle has no claim of is one that the cluster must have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kwokgen.mergepatch import reaches
from kwokgen.model.cluster import Cluster, Patch
from kwokgen.patches import means
from kwokgen.podrules import templates
from kwokgen.problem import Pos, Problem, nearest
from kwokgen.series import Document, Series, filled
from kwokgen.verify import said

REFERENCES = {"resourceClaimTemplateName": "ResourceClaimTemplate", "resourceClaimName": "ResourceClaim"}
"""Kinds by the key that says which of them a pod has."""
Names = set[tuple[str, str, str]]


def check(cluster: Cluster, series: Sequence[Series]) -> tuple[Problem, ...]:
    """A warning for every name that a patch wrote; the objects are right otherwise."""
    patches = [patch for patch in cluster.patches if _mentions(patch.merge)]
    names = _names(series) if patches else set()
    return tuple(problem for one in series if patches for problem in _of_series(one, patches, names))


def _mentions(merge: Any) -> bool:
    if isinstance(merge, Mapping):
        return "resourceClaims" in merge or any(_mentions(below) for below in merge.values())
    return isinstance(merge, Sequence) and not isinstance(merge, str) and any(_mentions(below) for below in merge)


def _names(series: Sequence[Series]) -> Names:
    return {
        (document["kind"], filled(meta.get("namespace", ""), one.columns, index), name)
        for one in series
        for run in one.runs
        for document in run.shape.documents
        if document["kind"] in REFERENCES.values() and (meta := document["metadata"])
        for index in range(run.first, run.last + 1)
        if (name := filled(meta["name"], one.columns, index))
    }


def _of_series(series: Series, patches: Sequence[Patch], names: Names) -> Iterator[Problem]:
    for run in series.runs:
        for document in run.shape.documents:
            if any(patch.kind == document["kind"] for patch in patches):
                # A name that a patch asks for has a run of its own.
                row = said(filled(document, series.columns, run.last))
                yield from _of_object(row, [patch for patch in patches if means(patch, series.pool, row)], names)


def _of_object(document: Document, patches: Sequence[Patch], names: Names) -> Iterator[Problem]:
    namespace = document["metadata"].get("namespace", "")
    for path, template in templates(document):
        where = (*path, "spec", "resourceClaims")
        wrote = [patch for patch in patches if reaches(patch.merge, where)]
        for index, claim in enumerate(template.get("spec", {}).get("resourceClaims", ()) if wrote else ()):
            for key, kind in REFERENCES.items():
                if key in claim and (kind, namespace, claim[key]) not in names:
                    at = wrote[-1].at.pos("merge", *where, index, key)
                    yield _unmade(at, kind, claim[key], [name for *other, name in names if other == [kind, namespace]])


def _unmade(at: Pos, kind: str, name: str, known: Sequence[str]) -> Problem:
    near = nearest(name, known)
    hint = (
        f'did you mean "{near}"?'
        if near
        else "pods wait until the cluster has one: write it under claims of the blueprint"
    )
    return Problem(
        at, "claim-names", f'the bundle has no {kind} "{name}" in the namespace of the pods', hint, "warning"
    )
