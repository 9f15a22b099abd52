"""Stages that begin, hold and end faults: pure functions of the time and of what the object says.

Every Stage asks what should be now and what is. So a fault that somebody's apply has healed comes back, one that is
over ends also when the controller was away, and none fires twice: there is nothing left to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from json import dumps
from typing import Any, NamedTuple

from kwokgen.model.fault import Event, Fault, Step
from kwokgen.resources._faulttimes import ARMED, all_of, labelled, moment, since, turns, wanted, within
from kwokgen.resources._patches import added, escaped
from kwokgen.resources._selectors import AT_ONCE, among, lacks, there

CLOCK = "kwokgen.io/clock"
BORN = "born"
WAITING = 1
"""Heartbeats, of weight 0, do not delay the clock; what has to be done at once is not delayed by it."""
Expression = dict[str, Any]
Patch = dict[str, str]


class Part(NamedTuple):
    """What a step does to one kind of object: how to see, in jq, that something of it is missing; how to add and take it.

    To begin also takes what only the step before it does; an object that is `gone` is deleted instead.
    """

    wrong: str
    begin: list[str]
    end: list[str]
    begun_status: str | None = None
    ended_status: str | None = None
    event: Event | None = None
    gone: bool = False


class Played(NamedTuple):
    """The kind of object, and the selector of those of the bundle that are ready to be played."""

    reference: dict[str, str]
    labels: dict[str, str]
    ready: tuple[Expression, ...] = ()


def labels(faults: Iterable[Fault]) -> dict[str, str]:
    """The labels of an object that faults are for."""
    return {fault.label: ARMED if fault.stages else BORN for fault in faults}


def stages(fault: Fault, played: Played, parts: Sequence[Part]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The last words of the names, and the specs, of the Stages of a fault; `parts` are those of its steps.

    What labels and annotations tell apart costs KWOK nothing, where an expression is evaluated for every change.
    """
    for number, part in enumerate(parts, start=1):
        word = f"-{number}" if len(parts) > 1 else ""
        for name, spec in _step(fault, played, part, number, len(parts)):
            yield name + word, spec
    if _outlived(fault):
        yield "stop", _stop(fault, played)


def _step(fault: Fault, played: Played, part: Part, number: int, of: int) -> Iterator[tuple[str, dict[str, Any]]]:
    step = fault.steps[number - 1]
    own, active = {fault.label: wanted(fault)}, {fault.label: "active"}
    if of > 1:
        active |= {f"{fault.label}.step": str(number)}
    time = [among(due, "true")] if (due := within(fault, step.begin, step.end)) else []
    event = {"event": part.event._asdict()} if part.event else {}
    if part.gone:
        yield "begin", _stage(played, [*time, *_older(fault, step)], event | {"delete": True}, labels=own)
        return
    begin = [_object(active, [*_since(fault), *_round(fault), *part.begin]), *_status(part.begun_status)]
    end = [_object({fault.label: "over"}, [*_off(fault), *part.end]), *_status(part.ended_status)]
    yield "begin", _stage(played, [*time, _waiting(fault, number)], event | {"patches": begin}, labels=own)
    if part.wrong:
        hold = [*time, among(part.wrong, "true")]
        yield "hold", _stage(played, hold, {"patches": begin}, labels=own, annotations=active)
    ends = among(all_of(labelled(fault), _until_next(fault, number, of)), "false")
    yield "end", _stage(played, [ends], {"patches": end}, annotations=active)


def _waiting(fault: Fault, number: int) -> Expression:
    """That a step has not begun: it is the turn of the fault, or the step before it is there."""
    state = f".metadata.annotations[{dumps(fault.label)}]"
    if number == 1:
        return lacks(state, "active")
    before = f".metadata.annotations[{dumps(f'{fault.label}.step')}]"
    return among(f'{state} != "active" or {before} == {dumps(str(number - 1))}', "true")


def _until_next(fault: Fault, number: int, of: int) -> str:
    """In jq, whether it is the time of a step or of the one after it, whose begin ends it."""
    step = fault.steps[number - 1]
    return within(fault, step.begin, fault.steps[number].end if number < of else step.end)


def _older(fault: Fault, step: Step) -> Iterator[Expression]:
    """That an object was there at a moment of the calendar: the one that takes its place is not deleted as well."""
    if fault.start.sort == "at":
        yield among(f"(.metadata.creationTimestamp | fromdateiso8601) < {moment(fault, step.begin)}", "true")


def _outlived(fault: Fault) -> bool:
    """Whether a fault by hand goes on when it, or a step of it, has ended."""
    return fault.start.sort == "manual" and fault.timed and (len(fault.steps) > 1 or fault.repeat is not None)


def _stop(fault: Fault, played: Played) -> dict[str, Any]:
    """The Stage after the last end of such a fault, which sets its label and forgets when it began."""
    goes_on = all_of(labelled(fault), f"now < {moment(fault, fault.lasts)}" if fault.lasts else "")
    known = there(f".metadata.annotations[{dumps(since(fault))}]")
    idle = lacks(f".metadata.annotations[{dumps(fault.label)}]", "active")
    # A merge, which may be played twice: both patches of the Stage before it bring an event.
    forgotten = f'labels: {{{fault.label}: "off"}}\nannotations: {{{since(fault)}: null}}\n'
    stopped = {"root": "metadata", "type": "merge", "template": forgotten}
    return _stage(played, [known, idle, among(goes_on, "false")], {"patches": [stopped]})


def _stage(
    played: Played,
    expressions: list[Expression],
    action: dict[str, Any],
    *,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
) -> dict[str, Any]:
    selector: dict[str, Any] = {"matchLabels": played.labels | (labels or {})}
    if annotations:
        selector["matchAnnotations"] = annotations
    selector["matchExpressions"] = [*played.ready, *expressions]
    return {
        "resourceRef": played.reference,
        "selector": selector,
        "weight": AT_ONCE,
        "next": {"statusSubresource": "status", **action},
    }


def _since(fault: Fault) -> list[str]:
    if fault.start.sort != "manual" or not fault.timed:
        return []
    # A fault that is held has begun before.
    return [
        f'{{{{ if not (and .metadata.annotations (hasKey .metadata.annotations "{since(fault)}")) }}}}',
        f"- {{op: add, path: /metadata/annotations/{escaped(since(fault))}, value: {{{{ now | unixEpoch | Quote }}}}}}",
        "{{ end }}",
    ]


def _off(fault: Fault) -> list[str]:
    if fault.start.sort != "manual" or not fault.timed or _outlived(fault):
        return []
    return [
        added(f"/metadata/labels/{escaped(fault.label)}", "off"),
        f'{{{{ if hasKey .metadata.annotations "{since(fault)}" }}}}',
        f"- {{op: remove, path: /metadata/annotations/{escaped(since(fault))}}}",
        "{{ end }}",
    ]


def _round(fault: Fault) -> Iterator[str]:
    """Lines that note which time it is that a fault begins; one that KWOK was away for counts as well."""
    if fault.repeat is None:
        return
    if fault.start.sort == "at":
        yield f"{{{{ $zero := {fault.start.seconds} }}}}"
    elif fault.start.sort == "after":
        created = '.metadata.creationTimestamp | toDate "2006-01-02T15:04:05Z07:00" | unixEpoch'
        yield f"{{{{ $zero := add ({created} | int64) {fault.start.seconds} }}}}"
    else:
        name = dumps(since(fault))
        yield "{{ $zero := now | unixEpoch }}"
        yield f"{{{{ if and .metadata.annotations (hasKey .metadata.annotations {name}) }}}}"
        yield f"{{{{ $zero = index .metadata.annotations {name} }}}}"
        yield "{{ end }}"
    number = f"add1 (div (sub (now | unixEpoch | int64) (int64 $zero)) {fault.repeat.every})"
    path = f"/metadata/annotations/{escaped(f'{fault.label}.round')}"
    yield f'- {{op: add, path: {path}, value: "{{{{ {number} }}}}"}}'


def _object(marks: dict[str, str], lines: list[str]) -> Patch:
    """A patch of labels, annotations and spec together: the event of the next patch finds it done."""
    first = ["{{ if not .metadata.annotations }}", "- {op: add, path: /metadata/annotations, value: {}}", "{{ end }}"]
    said = (added(f"/metadata/annotations/{escaped(key)}", text) for key, text in marks.items())
    return {"root": "", "type": "json", "template": "\n".join([*first, *said, *lines]) + "\n"}


def _status(template: str | None) -> Iterator[Patch]:
    if template is not None:
        yield {"root": "status", "subresource": "status", "type": "strategic", "template": template}


def clock(faults: Iterable[Fault], played: Played) -> dict[str, Any] | None:
    """The Stage that touches an object when something is due on it: KWOK looks at one only when it has changed."""
    times = [found for fault in faults if (found := turns(fault))]
    if not times:
        return None
    coming = f"[{', '.join(times)}] | map(select(. > now))"
    touched = {"root": "metadata", "type": "merge", "template": f"annotations: {{{CLOCK}: {{{{ Now | Quote }}}}}}\n"}
    stage = _stage(played, [among(f"({coming} | length) > 0", "true")], {"patches": [touched]})
    stage["weight"] = WAITING
    # Of a moment that has just passed there is no expression left.
    stage["delay"] = {
        "durationMilliseconds": 1000,
        "durationFrom": {"expressionFrom": f"{coming} | min | todateiso8601"},
    }
    return stage
