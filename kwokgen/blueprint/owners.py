"""Owners of pods: the kinds whose pods end by themselves, put in where a Stage asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kwokgen.blueprint.scope import Scope
from kwokgen.model.lifecycle import Lifecycle, Stage
from kwokgen.model.place import Place

KIND = "owners"
ALL = "$owners"
"""Among the values of an expression: every kind whose pods end by themselves."""


def put_in(scope: Scope, lifecycles: tuple[Lifecycle, ...], at: Place) -> tuple[Lifecycle, ...]:
    """The lifecycles with the catalogue's kinds in the selectors of their Stages, such as `batch/v1 Job`."""
    if not any(ALL in values for each in lifecycles for stage in each.stages for values in _values(stage)):
        return lifecycles
    kinds = _completing(scope, at)
    return tuple(each._replace(stages=tuple(_known(stage, kinds) for stage in each.stages)) for each in lifecycles)


def _completing(scope: Scope, at: Place) -> list[str]:
    facts = (scope.fact(KIND, name, at.pos(), "owner") for name in scope.catalog.names(KIND))
    known = (fact.data for fact in facts if fact)
    return [f"{data['apiVersion']} {data['kind']}" for data in known if data["completes"]]


def _values(stage: Stage) -> list[list[str]]:
    return [expression.get("values", []) for expression in _expressions(stage)]


def _expressions(stage: Stage) -> list[Mapping[str, Any]]:
    return list(stage.spec["selector"].get("matchExpressions", ()))


def _known(stage: Stage, kinds: list[str]) -> Stage:
    if not any(ALL in values for values in _values(stage)):
        return stage
    asked = [_put(expression, kinds) for expression in _expressions(stage)]
    return stage._replace(spec={**stage.spec, "selector": {**stage.spec["selector"], "matchExpressions": asked}})


def _put(expression: Mapping[str, Any], kinds: list[str]) -> Mapping[str, Any]:
    values = expression.get("values", [])
    if ALL not in values:
        return expression
    return {**expression, "values": [each for value in values for each in (kinds if value == ALL else [value])]}
