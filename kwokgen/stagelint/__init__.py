"""Stages that did not come with kwokgen, held against what KWOK makes of them; its own are the tests' to check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kwokgen import expressions
from kwokgen.blueprint.lifecycles import CAPACITY
from kwokgen.model.cluster import Cluster
from kwokgen.model.lifecycle import Lifecycle, Stage
from kwokgen.model.place import Place
from kwokgen.problem import KwokgenError, Pos, Problem, errors
from kwokgen.stagelint import _between, _bundle
from kwokgen.stagelint._matching import labelled
from kwokgen.stagelint._samples import STANDARD
from kwokgen.stagelint._stage import Finding, findings

__all__ = ["STANDARD", "alone", "between", "check", "findings", "problem"]
CODE = "stage"
FILLED_IN = {CAPACITY: ("$capacity", "$allocatable")}
"""Variables that the templates of a profile find set."""
ENTRY = {
    ("delay", "durationFrom"): ("delay", "until"),
    ("delay", "jitterDurationMilliseconds"): ("delay", "spread"),
}
"""Where a catalogue entry says what stands elsewhere in a Stage."""


def check(cluster: Cluster) -> tuple[Problem, ...]:
    """Everything that is wrong with the lifecycles of the user's catalogue."""
    found = [*expressions.check(cluster)]
    for lifecycle in cluster.own_lifecycles:
        found += alone(lifecycle, cluster.controller.kwok.called(lifecycle.kind))
    wrong = {problem.pos.file for problem in errors(found)}
    for lifecycle in cluster.own_lifecycles:
        # What is wrong by itself would be said again by what it does to others.
        if not {place.pos().file for place in _stages(lifecycle)} & wrong:
            found += between(lifecycle, cluster.controller.kwok.called(lifecycle.kind))
            found += _bundle.check(cluster, lifecycle)
    return tuple(found)


def alone(lifecycle: Lifecycle, functions: frozenset[str]) -> Iterator[Problem]:
    """What is wrong with each Stage by itself."""
    for stage, place in zip(lifecycle.stages, _stages(lifecycle), strict=True):
        for finding in findings(lifecycle.kind, stage.spec, functions, FILLED_IN.get(lifecycle.profile, ())):
            yield _problem(place, stage, finding)
        if not labelled(stage.spec["selector"], stage.sample):
            yield Problem(place.pos("sample"), CODE, "the sample has not the labels or annotations of the selector")


def between(lifecycle: Lifecycle, functions: frozenset[str]) -> tuple[Problem, ...]:
    """What is wrong with Stages that are right by themselves."""
    try:
        return tuple(_between.check(lifecycle, functions))
    except KwokgenError as error:
        return error.problems


def _stages(lifecycle: Lifecycle) -> Iterator[Place]:
    return (lifecycle.entry.below("stages", stage.number) for stage in lifecycle.stages)


def _problem(place: Place, stage: Stage, finding: Finding) -> Problem:
    path = next((said for start, said in ENTRY.items() if finding.path[:2] == start), finding.path)
    return problem(place.pos(*path), stage.spec, finding)


def problem(pos: Pos, spec: Mapping[str, Any], finding: Finding) -> Problem:
    """A finding at the place of its part, of a template at the line of it."""
    if finding.offset is not None:
        text: Any = spec
        for step in finding.path:
            text = text[step]
        pos = in_text(pos, text, finding.offset)
    return Problem(pos, CODE, finding.message, finding.hint, finding.severity)


def in_text(pos: Pos, text: str, offset: int) -> Pos:
    """The line of a block of text that begins at `pos`; of any other text, where it begins."""
    if pos.excerpt[pos.column - 1 : pos.column] != "|":
        return pos
    number = text.count("\n", 0, offset)
    line = text.split("\n")[number]
    return Pos(pos.file, pos.line + number + 1, 1, line, max(1, len(line)))
