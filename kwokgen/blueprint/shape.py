"""A blueprint's tree against its schema, and the constant defaults of the schema filled in."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from kwokgen import schemas
from kwokgen.conform import conform
from kwokgen.model.place import Node
from kwokgen.problem import Problem


def check(node: Node) -> tuple[Problem, ...]:
    """Every key, type and form that the language does not have."""
    return conform(node, schemas.load("blueprint"), "blueprint")


def filled(node: Node) -> dict[str, Any]:
    """The blueprint as data with every constant default; `node` has passed `check`."""
    schema = schemas.load("blueprint")
    value: dict[str, Any] = _fill(node.plain(), schema, schema["$defs"])
    return value


def _fill(value: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    if "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/$defs/")] | schema
    if isinstance(value, dict):
        for key, below in schema.get("properties", {}).items():
            default = _default(below, definitions)
            if key not in value and default is not None:
                value[key] = deepcopy(default)
            if key in value:
                value[key] = _fill(value[key], below, definitions)
    if isinstance(value, list) and "items" in schema:
        return [_fill(item, schema["items"], definitions) for item in value]
    return value


def _default(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    if "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/$defs/")] | schema
    return schema.get("default")
