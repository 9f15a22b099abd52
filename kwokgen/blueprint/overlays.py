"""Overlays laid over a blueprint's tree; every value keeps the place that wrote it."""

from __future__ import annotations

from kwokgen.model.place import Entry, Node, Place
from kwokgen.problem import KwokgenError, Problem

ATTRIBUTES = "attributes"


def overlaid(base: Node, over: Node) -> Node:
    """`over` merged into `base` by key, named lists by `name`; a null deletes."""
    if isinstance(base.value, dict) and isinstance(over.value, dict):
        return base._replace(value=_mappings(base.value, over.value))
    if isinstance(base.value, tuple) and isinstance(over.value, tuple) and _named(base) and _named(over):
        return base._replace(value=_lists(base.value, over.value))
    return over


def _mappings(base: dict[str, Entry], over: dict[str, Entry]) -> dict[str, Entry]:
    merged = dict(base)
    for key, entry in over.items():
        if entry.node.value is None:
            merged.pop(key, None)
        elif key in base:
            node = (_attributes if key == ATTRIBUTES else overlaid)(base[key].node, entry.node)
            merged[key] = Entry(entry.key_pos if node is entry.node else base[key].key_pos, node)
        else:
            merged[key] = entry._replace(node=_present(entry.node))
    return merged


def _attributes(base: Node, over: Node) -> Node:
    """A value is of one sort: {version: …} over {each: …} replaces it."""
    if not isinstance(base.value, dict) or not isinstance(over.value, dict):
        return over
    mappings = [key for key, entry in over.value.items() if isinstance(entry.node.value, dict)]
    kept = {key: entry for key, entry in base.value.items() if key not in mappings}
    return base._replace(value=_mappings(kept, over.value))


def _present(node: Node) -> Node:
    """A mapping without its nulls, which have nothing to take away, and a list of items with names likewise."""
    if isinstance(node.value, dict):
        return node._replace(value=_mappings({}, node.value))
    if isinstance(node.value, tuple) and _named(node):
        return node._replace(value=tuple(map(_present, node.value)))
    return node


def _lists(base: tuple[Node, ...], over: tuple[Node, ...]) -> tuple[Node, ...]:
    _distinct(over)
    wanted = {name_of(node): _unnamed(node) for node in over}
    # Two of one name in the base are found later, where they stand.
    kept = tuple(overlaid(node, wanted[name_of(node)]) if name_of(node) in wanted else node for node in base)
    known = {name_of(node) for node in base}
    return (*kept, *(_present(node) for node in over if name_of(node) not in known))


def _distinct(over: tuple[Node, ...]) -> None:
    """The second of two items of one name would be merged into the same item, and hide the first."""
    seen: set[str | None] = set()
    for node in over:
        name = name_of(node)
        if name in seen:
            message = f'the overlay has two items named "{name}"'
            raise KwokgenError(Problem(Place(node).pos("name"), "duplicate-name", message, "merge them into one"))
        seen.add(name)


def _named(node: Node) -> bool:
    """Whether it is a list of named items; an empty one replaces."""
    return isinstance(node.value, tuple) and bool(node.value) and all(name_of(item) is not None for item in node.value)


def _unnamed(item: Node) -> Node:
    """An overlay's name only leads to an item: what is wrong with the name stands in the base."""
    if not isinstance(item.value, dict):
        return item
    return item._replace(value={key: entry for key, entry in item.value.items() if key != "name"})


def name_of(node: Node) -> str | None:
    """What an item of a list of named ones is called; None where it has no name."""
    name = node.child("name")
    return name.value if name and isinstance(name.value, str) else None
