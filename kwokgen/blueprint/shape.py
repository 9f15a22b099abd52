"""A blueprint's tree against its schema, and the constant defaults of the schema filled in."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

from kwokgen import schemas
from kwokgen.conform import conform, differences
from kwokgen.model.place import Entry, Node, Path
from kwokgen.problem import KwokgenError, Pos, Problem
from kwokgen.schemas import Schema

POOLS: Path = ("spec", "pools")
HEAD: dict[Path, Any] = {
    ("apiVersion",): "kwokgen.io/v1alpha1",
    ("kind",): "Blueprint",
    ("metadata", "name"): "blueprint",
    ("spec", "kubernetes"): "1.37",
    POOLS: (),
}
"""What stands in for a wrong or missing part without which nothing else could be understood."""


class Sound(NamedTuple):
    """What of a tree conforms to the schema: the rest is left out, so that its other mistakes are found in the same run.

    `lost` are the places of mappings and lists that something was taken from, `sections` the parts of `spec` that it
    was in, `unnamed` those of them that lost a name, and `names` everything that was named in `spec` before.
    """

    node: Node
    problems: tuple[Problem, ...] = ()
    lost: frozenset[Pos] = frozenset()
    sections: frozenset[str] = frozenset()
    unnamed: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


def sound(node: Node) -> Sound:
    """The part of a tree that the language has, with a problem for each key, type and form that it has not.

    Raises KwokgenError when nothing is left to understand.
    """
    schema = schemas.load("blueprint")
    problems = conform(node, schema, "blueprint")
    names = frozenset(_names(node))
    if not problems:
        return Sound(node, names=names)
    spec = node.child("spec")
    if spec is None or not isinstance(spec.value, dict):
        raise KwokgenError(*problems)
    left, lost, sections, unnamed = _headed(node), set[Pos](), set[str](), set[str]()
    while wrong := _wrong(left, schema):
        lost |= {pos for path in wrong for pos in _held(left, path)}
        sections |= {str(path[1]) for path in wrong if len(path) > 1}
        unnamed |= {str(path[1]) for path in wrong if _unnames(left, path)}
        left = _headed(_without(left, wrong))
    return Sound(left, problems, frozenset(lost), frozenset(sections), frozenset(unnamed), names)


def _unnames(node: Node, path: Path) -> bool:
    """Whether a name that others may refer to is lost with the path, and cannot be read."""
    if len(path) == len(("spec", "pools", 0)):
        name = _at(node, (*path, "name"))
        return name is None or not isinstance(name.value, str)
    return len(path) == len(("spec", "pools")) or path[3:] == ("name",)


def _wrong(node: Node, schema: Schema) -> set[Path]:
    """The paths to take out: without any pool there is still something to understand, so that is none."""
    found = set(differences(node, schema)) - {()}
    pools = _at(node, POOLS)
    return found - {POOLS} if pools and pools.value == () else found


def _headed(node: Node) -> Node:
    """The tree with everything of HEAD that it lacks."""
    for path, value in HEAD.items():
        if _at(node, path) is None:
            node = _put(node, path, Node(node.pos, value))
    return node


def _put(node: Node, path: Path, value: Node) -> Node:
    entries = node.value if isinstance(node.value, dict) else {}
    key, rest = str(path[0]), path[1:]
    below = entries[key].node if key in entries else Node(node.pos, {})
    return node._replace(value=entries | {key: Entry(node.pos, _put(below, rest, value) if rest else value)})


def _without(node: Node, paths: set[Path]) -> Node:
    """The tree without what stands at the paths; list items move up, so the last paths go first."""
    for path in sorted(paths, key=lambda path: [(isinstance(step, int), str(step).zfill(9)) for step in path])[::-1]:
        if _at(node, path):
            node = _removed(node, path)
    return node


def _removed(node: Node, path: Path) -> Node:
    step, rest = path[0], path[1:]
    if isinstance(node.value, dict):
        key = str(step)
        entry = node.value[key]
        if rest:
            return node._replace(value=node.value | {key: entry._replace(node=_removed(entry.node, rest))})
        return node._replace(value={name: below for name, below in node.value.items() if name != key})
    items = list(node.value) if isinstance(node.value, tuple) else []
    items[int(step) : int(step) + 1] = [_removed(items[int(step)], rest)] if rest else []
    return node._replace(value=tuple(items))


def _at(node: Node, path: Path) -> Node | None:
    below: Node | None = node
    for step in path:
        below = below.child(step) if below else None
    return below


def _held(node: Node, path: Path) -> set[Pos]:
    """The places of a lost value and of what held it."""
    found = (_at(node, path[:length]) for length in (len(path) - 1, len(path)))
    return {below.pos for below in found if below}


def _names(node: Node) -> set[str]:
    if isinstance(node.value, tuple):
        return {name for below in node.value for name in _names(below)}
    if not isinstance(node.value, dict):
        return set()
    named = node.child("name")
    below = {name for entry in node.value.values() for name in _names(entry.node)}
    return below | ({named.raw} if named else set())


def filled(node: Node) -> dict[str, Any]:
    """The blueprint as data with every constant default; `node` is sound."""
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
        others: Any = schema.get("additionalProperties")
        for key in value.keys() - schema.get("properties", {}).keys() if isinstance(others, dict) else set[str]():
            value[key] = _fill(value[key], others, definitions)
    if isinstance(value, list) and "items" in schema:
        return [_fill(item, schema["items"], definitions) for item in value]
    # 2.0 and 1e1 are integers to JSON Schema.
    return int(value) if isinstance(value, float) and "integer" in schema.get("type", "") else value


def _default(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    if "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/$defs/")] | schema
    return schema.get("default")
