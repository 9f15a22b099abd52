"""Rules between the parts of an entry, which its JSON Schema cannot say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kwokgen.catalog import composed
from kwokgen.model.place import Place
from kwokgen.problem import Problem, unknown

UUID = "uuid"
"""The attribute of partitions that are there, where a driver names none."""


def check(kind: str, data: Mapping[str, Any], at: Place) -> Iterator[Problem]:
    """What is wrong with an entry that its schema takes."""
    rule = _RULES.get(kind)
    if rule:
        yield from rule(data, at)


def _kubernetes(data: Mapping[str, Any], at: Place) -> Iterator[Problem]:
    for name, feature in data["features"].items():
        for index, gate in enumerate(feature.get("gates", ())):
            if gate not in data["gates"]:
                pos = at.pos("features", name, "gates", index)
                yield unknown(pos, "gate", gate, data["gates"], code="catalog")


def _driver(data: Mapping[str, Any], at: Place) -> Iterator[Problem]:
    form = data.get("partitions", {})
    said = {form[key]: key for key in ("profile", "parent") if key in form}
    if "prefix" in form:
        said[data.get("uuid", {}).get("attribute", UUID)] = "prefix"
    for name in form.get("attributes", {}):
        if name in said:
            message = f'"{said[name]}" says the attribute "{name}" of each partition as well'
            yield Problem(at.key("partitions", "attributes", name), "catalog", message, "leave out one of them")


def _topology(data: Mapping[str, Any], at: Place) -> Iterator[Problem]:
    if ("keys" in data) == ("pattern" in data):
        said = "both say" if "keys" in data else "say"
        message = f'"keys" and "pattern" {said} the keys of the levels'
        yield Problem(at.pos("pattern"), "catalog", message, "write one of them")


def _fault(data: Mapping[str, Any], at: Place) -> Iterator[Problem]:
    effects = data["effects"]
    if "gone" not in effects:
        return
    for name in effects.keys() - {"gone", "event"}:
        yield Problem(
            at.key("effects", name), "catalog", f'a node that is gone has no "{name}"', "leave out one of them"
        )
    if data["of"] == "gpu":
        yield Problem(at.pos("of"), "catalog", "a node is gone, not a GPU of it", "write of: node")


_RULES: dict[str, Callable[[Mapping[str, Any], Place], Iterator[Problem]]] = {
    "drivers": _driver,
    "faults": _fault,
    "kubernetes": _kubernetes,
    "stages/node": composed.lacking,
    "stages/pod": composed.lacking,
    "topologies": _topology,
}
