"""Stages that begin, hold and end faults: pure functions of the time and of what the object says.

Every Stage asks what should be now and what is. So a fault that somebody's apply has healed comes back, one that is
over ends also when the controller was away, and none fires twice: there is nothing left to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from json import dumps
from typing import Any, NamedTuple

from kwokgen.model.fault import Event, Fault
from kwokgen.resources._patches import added, escaped
from kwokgen.resources._selectors import AT_ONCE, among, lacks

CLOCK = "kwokgen.io/clock"
ARMED = "armed"
BORN = "born"
WAITING = 1
"""Heartbeats, of weight 0, do not delay the clock; what has to be done at once is not delayed by it."""
Expression = dict[str, Any]
Patch = dict[str, str]


class Part(NamedTuple):
    """What a fault does to one kind of object: how to see, in jq, that something of it is missing; how to add and take it."""

    wrong: str
    begin: list[str]
    end: list[str]
    begun_status: str | None = None
    ended_status: str | None = None
    event: Event | None = None


class Played(NamedTuple):
    """The kind of object, and the selector of those of the bundle that are ready to be played."""

    reference: dict[str, str]
    labels: dict[str, str]
    ready: tuple[Expression, ...] = ()


def labels(faults: Iterable[Fault]) -> dict[str, str]:
    """The labels of an object that faults are for."""
    return {fault.label: ARMED if fault.stages else BORN for fault in faults}


def stages(fault: Fault, played: Played, part: Part) -> Iterator[tuple[str, dict[str, Any]]]:
    """The last words of the names, and the specs, of the Stages of a fault.

    What labels and annotations tell apart costs KWOK nothing, where an expression is evaluated for every change.
    """
    wanted, active = {fault.label: _wanted(fault)}, {fault.label: "active"}
    time = [among(due, "true")] if (due := _in_time(fault)) else []
    begin = [_object(fault, [*_since(fault), *part.begin], "active"), *_status(part.begun_status)]
    end = [_object(fault, [*_off(fault), *part.end], "over"), *_status(part.ended_status)]
    event = {"event": part.event._asdict()} if part.event else {}
    idle = lacks(f".metadata.annotations[{dumps(fault.label)}]", "active")
    over = " and ".join(filter(None, (f".metadata.labels[{dumps(fault.label)}] == {dumps(_wanted(fault))}", due)))
    yield "begin", _stage(played, [*time, idle], event | {"patches": begin}, labels=wanted)
    if part.wrong:
        hold = [*time, among(part.wrong, "true")]
        yield "hold", _stage(played, hold, {"patches": begin}, labels=wanted, annotations=active)
    yield "end", _stage(played, [among(over, "false")], {"patches": end}, annotations=active)


def _wanted(fault: Fault) -> str:
    """What the label says of an object that has the fault, or will have it."""
    return "on" if fault.start.sort == "manual" else ARMED


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


def _in_time(fault: Fault) -> str:
    """In jq, whether it is the time of the fault; empty where that is as long as a label says so."""
    if fault.start.sort == "manual":
        return f"(({_noted(fault)}) // now) + {fault.seconds} > now" if fault.seconds else ""
    begin, end = _bounds(fault)
    return f"now >= {begin}" + (f" and now < {end}" if end else "")


def _noted(fault: Fault) -> str:
    """In jq, when a fault by hand began."""
    return f".metadata.annotations[{dumps(fault.label + '-since')}] // empty | tonumber"


def _bounds(fault: Fault) -> tuple[str, str | None]:
    """In jq, the moments of its begin and of its end in seconds."""
    zero = "" if fault.start.sort == "at" else "(.metadata.creationTimestamp | fromdateiso8601) + "
    end = None if fault.seconds is None else f"{zero}{fault.start.seconds + fault.seconds}"
    return f"{zero}{fault.start.seconds}", end


def _since(fault: Fault) -> list[str]:
    if fault.start.sort != "manual" or not fault.seconds:
        return []
    name = f"{fault.label}-since"
    path = f"/metadata/annotations/{escaped(name)}"
    # A fault that is held has begun before.
    return [
        f'{{{{ if not (and .metadata.annotations (hasKey .metadata.annotations "{name}")) }}}}',
        f"- {{op: add, path: {path}, value: {{{{ now | unixEpoch | Quote }}}}}}",
        "{{ end }}",
    ]


def _off(fault: Fault) -> list[str]:
    if fault.start.sort != "manual" or not fault.seconds:
        return []
    name = f"{fault.label}-since"
    return [
        added(f"/metadata/labels/{escaped(fault.label)}", "off"),
        f'{{{{ if hasKey .metadata.annotations "{name}" }}}}',
        f"- {{op: remove, path: /metadata/annotations/{escaped(name)}}}",
        "{{ end }}",
    ]


def _object(fault: Fault, lines: list[str], state: str) -> Patch:
    """A patch of labels, annotations and spec together: the event of the next patch finds it done."""
    first = ["{{ if not .metadata.annotations }}", "- {op: add, path: /metadata/annotations, value: {}}", "{{ end }}"]
    mark = added(f"/metadata/annotations/{escaped(fault.label)}", state)
    return {"root": "", "type": "json", "template": "\n".join([*first, mark, *lines]) + "\n"}


def _status(template: str | None) -> Iterator[Patch]:
    if template is not None:
        yield {"root": "status", "subresource": "status", "type": "strategic", "template": template}


def clock(faults: Iterable[Fault], played: Played) -> dict[str, Any] | None:
    """The Stage that touches an object when something is due on it: KWOK looks at one only when it has changed."""
    times = [found for fault in faults if (found := _times(fault))]
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


def _times(fault: Fault) -> str:
    """In jq, the moments at which something is to be done; empty where only a label says so."""
    here = f".metadata.labels[{dumps(fault.label)}]"
    if fault.start.sort == "manual":
        return f'if {here} == "on" then ({_noted(fault)}) + {fault.seconds} else empty end' if fault.seconds else ""
    times = ", ".join(part for part in _bounds(fault) if part)
    return f'if {here} == "{ARMED}" then ({times}) else empty end'
