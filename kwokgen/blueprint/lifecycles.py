"""Lifecycles: catalogue profiles with their times filled in, as Stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from kwokgen.blueprint import owners, times
from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.catalog import Catalog, Fact
from kwokgen.model.lifecycle import Lifecycle, Stage, Time
from kwokgen.model.place import Place
from kwokgen.problem import Pos, Problem, quoted, unknown

TIMES = ("create", "init", "ready", "run", "delete", "heartbeat")
GATES = "readinessGates"
DEFAULTS = {"nodes": "heartbeat-lease", "pods": "timed"}
FOLDER = {"nodes": "stages/node", "pods": "stages/pod"}
CAPACITY = "node-capacity"


def resolve(scope: Scope, spec: Data, at: Place) -> dict[str, tuple[Lifecycle, ...]]:
    """The lifecycles of `nodes` and of `pods`, the default first."""
    items = spec.get("lifecycles", [])
    where = places(at, "lifecycles", items)
    scope.distinct(items, where, "lifecycles")
    found: dict[str, list[Lifecycle]] = {"nodes": [], "pods": []}
    for item, place in zip(items, where, strict=True):
        sort = _sort(scope, item, place)
        if sort and (lifecycle := _lifecycle(scope, item, place, sort, spec["seed"])):
            found[sort].append(lifecycle)
        else:
            scope.doubtful.add("lifecycles")
    whole = {sort: tuple(done) or (_default(scope, sort, at),) for sort, done in found.items()}
    return {sort: owners.put_in(scope, done, at) for sort, done in whole.items()}


def capacity(scope: Scope, at: Place) -> Lifecycle | None:
    """The Stages that make a changed capacity take effect, still to be filled in for each pool."""
    fact = _usable(scope, CAPACITY, at.pos(), "nodes")
    return _made({"name": CAPACITY}, fact, {}, at, 0) if fact else None


def _sort(scope: Scope, item: Data, at: Place) -> str | None:
    sorts = [sort for sort in DEFAULTS if sort in item]
    if len(sorts) == 1:
        return sorts[0]
    message = "is for nodes and for pods" if sorts else "says neither nodes nor pods"
    hint = "write nodes: heartbeat-lease, or pods: timed, each in a lifecycle of its own"
    scope.fail(at.pos(), "lifecycle", f'lifecycle "{item["name"]}" {message}', hint)
    return None


def _default(scope: Scope, sort: str, at: Place) -> Lifecycle:
    """The default of `--catalog`; kwokgen's own stands in for one with problems, so that the rest can be checked."""
    fact = _usable(scope, DEFAULTS[sort], at.pos(), sort)
    if fact is None:
        scope.doubtful.add("lifecycles")
        fact = Catalog().get(FOLDER[sort], DEFAULTS[sort], at.pos(), "lifecycle")
    return _made({"name": DEFAULTS[sort]}, fact, {}, at, 0)


def _usable(scope: Scope, name: str, pos: Pos, sort: str) -> Fact | None:
    """The entry that Stages can be made of, or None with its problems noted; kwokgen's own are the tests' to check."""
    fact = scope.fact(FOLDER[sort], name, pos, f"lifecycle of {sort}")
    if fact is None or fact.builtin:
        return fact
    wrong = [*_unmakeable(fact, sort), *(_unfillable(fact) if name == CAPACITY else ())]
    scope.problems += wrong
    return None if wrong else fact


def _lifecycle(scope: Scope, item: Data, at: Place, sort: str, seed: int) -> Lifecycle | None:
    fact = _usable(scope, item[sort], at.pos(sort), sort)
    if fact is None:
        return None
    if fact.data.get("perPool"):
        scope.fail(at.pos(sort), "lifecycle", f'"{item[sort]}" is made for every pool by itself', "leave it out")
        return None
    known = fact.data.get("parameters", {})
    given = {time: times.read(scope, item[time], at, time, "lifecycle") for time in TIMES if time in item}
    for time in given:
        if time not in known:
            takes = f"it takes {quoted(known)}" if known else "it takes none"
            message = f'the lifecycle "{item[sort]}" has no time "{time}". {takes}'
            scope.fail(at.key(time), "lifecycle", message)
    if GATES in item and not any("only" in entry for entry in fact.data["stages"]):
        scope.fail(at.key(GATES), "lifecycle", f'no Stage of the lifecycle "{item[sort]}" asks for it', "leave it out")
    if "heartbeat" in given and not given["heartbeat"].shortest:
        scope.fail(at.pos("heartbeat"), "lifecycle", "a heartbeat without an interval never pauses", "such as 10m")
    return _made(item, fact, given, at, seed)


def _unmakeable(fact: Fact, sort: str) -> Iterator[Problem]:
    """What the schema of an entry does not hold."""
    kind = {"nodes": "Node", "pods": "Pod"}[sort]
    if fact.data["kind"] != kind:
        yield Problem(fact.at.pos("kind"), "catalog", f"a lifecycle of {sort} has Stages of the kind {kind}")
    steps: set[str] = set()
    for index, entry in enumerate(fact.data["stages"]):
        at = fact.at.below("stages", index)
        if entry["step"] in steps:
            yield Problem(at.pos("step"), "catalog", f'two Stages have the step "{entry["step"]}"', "name each its own")
        steps.add(entry["step"])
        time, known = entry.get("delay", {}).get("parameter"), fact.data.get("parameters", {})
        if time is not None and time not in known:
            yield unknown(at.pos("delay", "parameter"), "parameter of the lifecycle", time, known, code="catalog")


def _unfillable(fact: Fact) -> Iterator[Problem]:
    """What is filled in for each pool has to have a place: a value "$wanted", and a template that gives the amounts."""
    for index, entry in enumerate(fact.data["stages"]):
        at = fact.at.below("stages", index)
        asked = entry["selector"].get("matchExpressions", ())
        if not any("$wanted" in expression.get("values", ()) for expression in asked):
            yield Problem(
                at.pos("selector"), "catalog", 'no expression has the value "$wanted"', "it is the pool's own"
            )
        for number, expression in enumerate(asked):
            if "values" not in expression:
                pos = at.pos("selector", "matchExpressions", number)
                yield Problem(pos, "catalog", f"{CAPACITY} asks for values only", "use In or NotIn")
        if "statusTemplate" not in entry["next"]:
            yield Problem(at.pos("next"), "catalog", f'{CAPACITY} without "statusTemplate" changes no capacity')


def _made(item: Data, fact: Fact, given: Mapping[str, Time], at: Place, seed: int) -> Lifecycle:
    known = _times(fact, given)
    return Lifecycle(
        name=item["name"],
        kind=fact.data["kind"],
        profile=fact.name,
        stages=_stages(fact, item, known, (seed, item["name"])),
        takes_run=fact.data.get("takesRun", False),
        ready=known.get("ready") if fact.data["kind"] == "Node" else None,
        needs_lease=fact.data.get("needsLease", False),
        builtin=fact.builtin,
        entry=fact.at,
        at=at,
    )


def _times(fact: Fact, given: Mapping[str, Time]) -> dict[str, Time]:
    """Every time of the profile."""
    defaults = {name: about["default"] for name, about in fact.data.get("parameters", {}).items()}
    return {name: given.get(name) or times.fixed(default) for name, default in defaults.items()}


def _stages(fact: Fact, item: Data, known: Mapping[str, Time], drawing: tuple[int, str]) -> tuple[Stage, ...]:
    """The Stages of a profile that a lifecycle asks for; `drawing` is the seed, and what is drawn for."""
    chosen = {GATES: item.get(GATES, "wait")}
    asked = (pair for pair in enumerate(fact.data["stages"]) if pair[1].get("only", {}).items() <= chosen.items())
    return tuple(_stage(fact.data["kind"], number, entry, known, drawing) for number, entry in asked)


def _stage(
    kind: str, number: int, entry: Mapping[str, Any], known: Mapping[str, Time], drawing: tuple[int, str]
) -> Stage:
    name = entry.get("delay", {}).get("parameter", "")
    time = known.get(name, Time(0, 0))
    seconds = times.seconds(name, kind, time, drawing) if name else "0"
    return Stage(entry["step"], number, _spec(kind, entry, known, drawing), entry["sample"], seconds, time.longest)


def _spec(kind: str, entry: Mapping[str, Any], known: Mapping[str, Time], drawing: tuple[int, str]) -> Data:
    """A Stage's spec; defaults that the CRD would fill in are written, so that no apply finds a difference."""
    spec: Data = {"resourceRef": {"apiGroup": "v1", "kind": kind}, "selector": entry["selector"]}
    spec["weight"] = entry.get("weight", 0)
    if "immediateNextStage" in entry:
        spec["immediateNextStage"] = entry["immediateNextStage"]
    if "delay" in entry:
        spec["delay"] = _delay(entry["delay"], kind, known, drawing)
    spec["next"] = {"statusSubresource": "status"} | entry["next"]
    return spec


def _delay(delay: Mapping[str, str], kind: str, known: Mapping[str, Time], drawing: tuple[int, str]) -> Data:
    shortest, longest = known[delay["parameter"]]
    done: Data = {"durationMilliseconds": shortest}
    if "spread" in delay:
        longest = int(Decimal(longest) * (100 + int(delay["spread"].partition("%")[0])) / 100)
    # KWOK takes a jitter that is not above the delay instead of it; in a moment the range is drawn.
    if "spread" in delay or (longest > shortest and "until" not in delay):
        done["jitterDurationMilliseconds"] = longest
    if "until" in delay:
        done["durationFrom"] = {"expressionFrom": times.bound(delay["until"], kind, known, drawing)}
    return done
