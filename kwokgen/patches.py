"""Patches of rendered objects: a constant changes its shape, a name of many makes runs of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import groupby

from kwokgen import patchfixed
from kwokgen.emit import skeleton
from kwokgen.mergepatch import merged
from kwokgen.model.cluster import Patch
from kwokgen.problem import Problem, nearest, quoted
from kwokgen.series import Document, Join, Run, Series, Shape, Slot, filled


def patched(series: Sequence[Series], patches: Sequence[Patch]) -> tuple[tuple[Series, ...], tuple[Problem, ...]]:
    """The series with every patch in order.

    A patch that matches nothing, changes nothing, or changes what makes an object itself is a problem.
    """
    problems: list[Problem] = []
    done = tuple(series)
    for patch in patches:
        # What replaces a whole mapping changes several of its keys, and is one mistake.
        fixed = {problem.pos: problem for problem in patchfixed.problems(patch, done)}.values()
        problems += fixed
        if not fixed:
            work = _Patching(patch)
            done = tuple(work.series(one) for one in done)
            problems += work.problems(done)
    return done, tuple(problems)


def means(patch: Patch, pool: str | None, document: Document) -> bool:
    """Whether a patch is for a document, whose names are filled in, of a series of `pool`."""
    meta = document["metadata"]
    return (
        document["kind"] == patch.kind
        and patch.pool in (None, pool)
        and patch.namespace in (None, meta.get("namespace"))
        and {key: meta.get("labels", {}).get(key) for key in patch.labels} == dict(patch.labels)
        and (patch.name is None or fnmatchcase(meta["name"], patch.name))
    )


@dataclass(slots=True, eq=False, repr=False)
class _Patching:
    """One patch on its way through all series."""

    patch: Patch
    matches: int = 0
    changes: int = 0
    shapes: dict[tuple[int, tuple[bool, ...]], Shape] = field(default_factory=dict)

    def series(self, series: Series) -> Series:
        if self.patch.pool is not None and self.patch.pool != series.pool:
            return series
        runs = [made for run in series.runs for made in self._runs(series, run)]
        return series.with_runs(tuple(runs))

    def problems(self, series: Sequence[Series]) -> Iterator[Problem]:
        if not self.matches:
            kinds = sorted({kind for one in series for kind, _ in one.kinds()})
            near = nearest(self.patch.kind, kinds)
            known = self.patch.kind in kinds
            hint = (
                ""
                if known
                else f"kinds of this bundle: {quoted(kinds)}" + (f'; did you mean "{near}"?' if near else "")
            )
            yield Problem(self.patch.at.pos("target"), "patch", "the patch matches no object", hint)
        elif not self.changes:
            yield Problem(self.patch.at.pos("merge"), "patch", "the patch changes nothing: the objects are so already")

    def _runs(self, series: Series, run: Run) -> Iterator[Run]:
        if not any(document["kind"] == self.patch.kind for document in run.shape.documents):
            yield run
            return
        if not self._by_row(run.shape):
            yield self._run(series, run, run.first, run.last)
            return
        rows = range(run.first, run.last + 1)
        for _, group in groupby(rows, key=lambda index: self._hits(series, run.shape, index)):
            indexes = list(group)
            yield self._run(series, run, indexes[0], indexes[-1])

    def _by_row(self, shape: Shape) -> bool:
        """Whether it depends on a slot which rows are meant."""
        for document in shape.documents:
            meta = document["metadata"]
            aims = [meta["name"]] if self.patch.name is not None else []
            aims += [meta.get("labels", {}).get(key) for key in self.patch.labels]
            if any(isinstance(aim, Slot | Join) for aim in aims):
                return True
        return False

    def _hits(self, series: Series, shape: Shape, index: int) -> tuple[bool, ...]:
        return tuple(self._meant(document, series, index) for document in shape.documents)

    def _meant(self, document: Document, series: Series, index: int) -> bool:
        if document["kind"] != self.patch.kind:
            return False
        meta = {key: value for key, value in document["metadata"].items() if key != "annotations"}
        named = {"kind": document["kind"], "metadata": filled(meta, series.columns, index)}
        return means(self.patch, series.pool, named)

    def _run(self, series: Series, run: Run, first: int, last: int) -> Run:
        hits = self._hits(series, run.shape, first)
        if not any(hits):
            return Run(run.shape, first, last)
        self.matches += 1
        shape = self._shape(run.shape, hits)
        self.changes += shape is not run.shape
        return Run(shape, first, last)

    def _shape(self, shape: Shape, hits: tuple[bool, ...]) -> Shape:
        key = (id(shape), hits)
        if key not in self.shapes:
            documents = tuple(
                merged(document, self.patch.merge) if hit else document
                for document, hit in zip(shape.documents, hits, strict=True)
            )
            made = Shape(documents)
            self.shapes[key] = shape if skeleton(made) == skeleton(shape) else made
        return self.shapes[key]
