"""Detectors: the conditions that a pool's nodes have, and which of them a fault turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kwokgen.blueprint.scope import Data, Scope
from kwokgen.catalog import Fact
from kwokgen.model.fault import Condition, Words
from kwokgen.model.place import Place
from kwokgen.problem import Pos, unknown

KUBELET = "kubelet"
"""The detector that every node has."""


class Turned(NamedTuple):
    """A condition that a fault turns; `born` ones are written by the Stage that makes nodes Ready."""

    condition: Condition
    born: bool


def watched(scope: Scope, item: Data, at: Place) -> Mapping[str, tuple[Condition, ...]]:
    """By detector, the conditions that a pool's nodes have from birth."""
    found: dict[str, tuple[Condition, ...]] = {}
    types: dict[str, str] = {}
    for index, name in enumerate(item["detectors"]):
        pos = at.pos("detectors", index)
        fact = scope.fact("detectors", name, pos, "detector")
        if fact is None:
            continue
        if fact.data.get("born"):
            scope.fail(pos, "detector", f"every node has {name} by itself", "leave it out")
        found[name] = tuple(_condition(fact, each, {}) for each in fact.data["conditions"])
        _told_twice(scope, found[name], types, name, pos)
    return found


def _told_twice(scope: Scope, conditions: tuple[Condition, ...], types: dict[str, str], name: str, pos: Pos) -> None:
    """A type has one polarity on a node: two detectors that mean the opposite by it would overwrite each other."""
    for condition in conditions:
        before = types.setdefault(condition.type, condition.fault)
        if before != condition.fault:
            message = f"{name} says {condition.type} {condition.fault} for trouble, a detector before it {before}"
            scope.fail(pos, "detector", message, "keep one of them")


def turned(scope: Scope, effects: Mapping[str, Any], of_pool: Mapping[str, Any], entry: Place) -> tuple[Turned, ...]:
    """The conditions of the detectors that a pool has; of the first that knows the fault where it has none."""
    asked = [name for name in effects if name == KUBELET or name in of_pool]
    names = asked or ([] if of_pool else list(effects)[:1])
    found: dict[str, Turned] = {}
    for name in names:
        fact = scope.fact("detectors", name, entry.pos("effects", "conditions", name), "detector")
        if fact:
            for each in _turned(scope, fact, effects[name], entry.below("effects", "conditions", name)):
                found.setdefault(each.condition.type, each)
    return tuple(found.values())


def _turned(scope: Scope, fact: Fact, types: Mapping[str, Data], entry: Place) -> Iterator[Turned]:
    for type_, words in types.items():
        if type_ in fact.data["conditions"]:
            yield Turned(_condition(fact, type_, words), bool(fact.data.get("born")))
        else:
            what = f"condition of {fact.name}"
            scope.problems.append(unknown(entry.key(type_), what, type_, fact.data["conditions"], code="catalog"))


def _condition(fact: Fact, type_: str, words: Data) -> Condition:
    data = fact.data["conditions"][type_]
    healthy, faulty = data["healthy"], data["faulty"] | words
    return Condition(
        type=type_,
        fault=data["fault"],
        healthy=Words(healthy["reason"], healthy.get("message", "")),
        faulty=Words(faulty["reason"], faulty.get("message", "")),
    )
