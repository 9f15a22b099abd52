"""Rules between the Stages of a lifecycle, on the samples of all of them and on objects in each state of their lives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from kwokgen.model.lifecycle import Lifecycle, Stage
from kwokgen.problem import Problem, Related, Severity
from kwokgen.stagelint._filling import NOW
from kwokgen.stagelint._matching import Thing, after, matching
from kwokgen.stagelint._samples import ENDED, STANDARD

CODE = "stage"
BORN = {"Node": set[str](), "Pod": {"Pending", "Failed"}}
"""Phases that no Stage has to write: the API server's of a new pod, and a controller's of one that it gives up."""
WHOLE_SECONDS = re.compile(r"last\w*Time|(creation|deletion)Timestamp|startTime|startedAt|finishedAt|timeAdded")
"""A second write in one second changes nothing of these, and what changes nothing plays no other Stage."""


class Played(NamedTuple):
    """An object, what a message calls it, and the Stages that match it."""

    thing: Thing
    words: str
    stages: tuple[Stage, ...]

    @property
    def drawn(self) -> tuple[Stage, ...]:
        """Those that KWOK draws between: one of weight 0 only where no other matches."""
        return tuple(stage for stage in self.stages if stage.spec["weight"]) or self.stages


def check(lifecycle: Lifecycle, functions: frozenset[str]) -> Iterator[Problem]:
    """What is wrong between Stages that are right by themselves.

    Raises KwokgenError for an expression that does not end.
    """
    known = {**{stage.sample_words: stage.sample for stage in lifecycle.stages}, **STANDARD[lifecycle.kind]}
    ends = {stage.step: thing for stage in lifecycle.stages if (thing := after(stage, functions))}
    found = matching(lifecycle, [*known.values(), *ends.values()])
    played = [Played(thing, words, stages) for (words, thing), stages in zip(known.items(), found, strict=False)]
    still = {
        step for step, stages in zip(ends, found[len(known) :], strict=True) if step in {one.step for one in stages}
    }
    yield from _races(lifecycle, played)
    yield from _outweighed(lifecycle, played, still)
    yield from _endless(lifecycle, {step: ends[step] for step in still})
    yield from _phases(lifecycle)
    yield from _revived(lifecycle, played)
    if lifecycle.kind == "Pod" and not any(stage.spec["next"].get("delete") for stage in lifecycle.stages):
        message = "no Stage deletes pods: one that is deleted stays Terminating, as on a node whose kubelet is gone"
        hint = "add a step with .metadata.deletionTimestamp Exists and next: {delete: true}"
        yield Problem(lifecycle.entry.pos("stages"), CODE, message, hint, "warning")


def _races(lifecycle: Lifecycle, played: Sequence[Played]) -> Iterator[Problem]:
    seen: set[tuple[str, str]] = set()
    for one in played:
        for first, second in combinations(one.drawn, 2):
            pair = (first.step, second.step)
            if first.spec["weight"] == second.spec["weight"] and pair not in seen:
                seen.add(pair)
                message = f'"{second.step}" and "{first.step}" both play {one.words}: KWOK draws between them by lot'
                hint = "give one the greater weight, or a condition that the other has not"
                related = (_other(lifecycle, first),)
                yield Problem(_at(lifecycle, second, "step"), CODE, message, hint, "warning", related)


def _outweighed(lifecycle: Lifecycle, played: Sequence[Played], still: set[str]) -> Iterator[Problem]:
    """Stages that others keep from every object, or from their own samples at least, which is a warning."""
    for one, stage in zip(played, lifecycle.stages, strict=False):
        for other in one.drawn if stage not in one.drawn else ():
            always = _implied(other.spec["selector"], stage.spec["selector"])
            if always or (other.step in still and not _for_a_time(other)):
                severity: Severity = "error" if always else "warning"
                message = f'"{stage.step}" is never played: "{other.step}" matches as well, and has a weight'
                hint = "a Stage of weight 0 is drawn only where no other matches: give it a weight, or the other a condition"
                related = (_other(lifecycle, other),)
                yield Problem(_at(lifecycle, stage, "step"), CODE, message, hint, severity, related)
                break


def _for_a_time(stage: Stage) -> bool:
    return any(re.search(r"\bnow\b", one["key"]) for one in stage.spec["selector"].get("matchExpressions", ()))


def _implied(weaker: Mapping[str, Any], stronger: Mapping[str, Any]) -> bool:
    """Whether what one selector asks for is a part of what another one does."""
    asked = stronger.get("matchExpressions", ())
    return (
        weaker.get("matchLabels", {}).items() <= stronger.get("matchLabels", {}).items()
        and weaker.get("matchAnnotations", {}).items() <= stronger.get("matchAnnotations", {}).items()
        and all(expression in asked for expression in weaker.get("matchExpressions", ()))
    )


def _endless(lifecycle: Lifecycle, still: Mapping[str, Thing]) -> Iterator[Problem]:
    """Stages without a pause that match what they have written, when each write is a change."""
    for stage in lifecycle.stages:
        delay = stage.spec.get("delay", {})
        pauses = delay.get("durationMilliseconds", 0) or "durationFrom" in delay
        if stage.step in still and not pauses and (key := _changing(still[stage.step])):
            message = f"the Stage matches what it has just written, and Now makes {key} differ each time: it never ends"
            hint = "KWOK makes some 80 patches a second of it: add a condition that no longer holds then, or a delay"
            path = "patches" if "patches" in stage.spec["next"] else "statusTemplate"
            yield Problem(_at(lifecycle, stage, "next", path), CODE, message, hint)


def _changing(value: Any, key: str = "") -> str:
    """The field of an object which holds the time to more than a second."""
    if isinstance(value, Mapping):
        return next((found for name, below in value.items() if (found := _changing(below, str(name)))), "")
    if isinstance(value, list):
        return next((found for below in value if (found := _changing(below, key))), "")
    return key if isinstance(value, str) and NOW in value and not WHOLE_SECONDS.fullmatch(key) else ""


def _phases(lifecycle: Lifecycle) -> Iterator[Problem]:
    """Stages for a phase that no object comes into."""
    for stage in lifecycle.stages:
        others = " ".join(text for other in lifecycle.stages if other is not stage for text in other.templates)
        for index, expression in enumerate(stage.spec["selector"].get("matchExpressions", ())):
            phases = set(expression.get("values", ()))
            if expression["key"] != ".status.phase" or expression["operator"] != "In" or phases & BORN[lifecycle.kind]:
                continue
            if not any(phase in others for phase in phases) and not re.search(r"phase\W+\{\{", others):
                pos = lifecycle.entry.pos("stages", stage.number, "selector", "matchExpressions", index, "values")
                message = f'"{stage.step}" is never played: no other Stage of the lifecycle writes this phase'
                hint = "a phase is what a Stage writes; only a new pod is Pending by itself"
                # A node is rendered, and a patch may have given it a phase.
                yield Problem(pos, CODE, message, hint, "warning" if lifecycle.kind == "Node" else "error")


def _revived(lifecycle: Lifecycle, played: Sequence[Played]) -> Iterator[Problem]:
    """Stages that begin a pod anew that has ended, which no kubelet does."""
    revived: dict[str, str] = {}
    for one in played:
        if one.words in ENDED:
            revived |= {stage.step: one.words for stage in one.stages if stage.writes_phase("Running", "Pending")}
    for stage in lifecycle.stages:
        if stage.step in revived:
            message = f'"{stage.step}" plays {revived[stage.step]} as well, and has it begin again'
            hint = "a pod that has ended stays so: add .status.phase In [Pending]"
            yield Problem(_at(lifecycle, stage, "selector"), CODE, message, hint)


def _other(lifecycle: Lifecycle, stage: Stage) -> Related:
    return Related(_at(lifecycle, stage, "step"), f'"{stage.step}", of weight {stage.spec["weight"]}')


def _at(lifecycle: Lifecycle, stage: Stage, *path: str) -> Any:
    return lifecycle.entry.pos("stages", stage.number, *path)
