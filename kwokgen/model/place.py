"""The tree of what a user wrote, with the place of every key and value, as `blueprint.source` reads it."""

from __future__ import annotations

from typing import Any, NamedTuple

from kwokgen.problem import Pos


class Based(int):
    """A number as 0x10 or 0o20: YAML has it, no quantity is written so."""


Scalar = str | int | float | bool | None
Path = tuple[str | int, ...]


class Node(NamedTuple):
    """A value as written: `raw` is the user's own spelling of a scalar, such as `1.30`."""

    pos: Pos
    value: Scalar | dict[str, Entry] | tuple[Node, ...]
    raw: str = ""

    def plain(self) -> Any:
        """The value without places: dicts, lists and scalars."""
        if isinstance(self.value, dict):
            return {key: entry.node.plain() for key, entry in self.value.items()}
        if isinstance(self.value, tuple):
            return [node.plain() for node in self.value]
        return self.value

    def child(self, step: str | int) -> Node | None:
        """The value below a key or an index; None where nothing was written."""
        if isinstance(self.value, dict):
            entry = self.value.get(str(step))
            return entry.node if entry else None
        if isinstance(self.value, tuple) and isinstance(step, int) and step < len(self.value):
            below: Node = self.value[step]
            return below
        return None


class Entry(NamedTuple):
    """One key of a mapping: where the key stands, and its value."""

    key_pos: Pos
    node: Node


NOWHERE = Node(Pos("<kwokgen>"), {})


class Place(NamedTuple):
    """Where a model object was written; `pos("gpus", "model")` is that value's own place."""

    node: Node = NOWHERE

    def pos(self, *path: str | int) -> Pos:
        """The place of a value below, or of its nearest written ancestor when it is a default."""
        node = self.node
        for step in path:
            below = node.child(step)
            if below is None:
                break
            node = below
        return node.pos

    def key(self, *path: str | int) -> Pos:
        """The place of the key that holds a value."""
        parent = self.below(*path[:-1]).node
        entry: Entry | None = parent.value.get(str(path[-1])) if path and isinstance(parent.value, dict) else None
        return entry.key_pos if entry else self.pos(*path)

    def raw(self, *path: str | int) -> str:
        """A scalar in the user's own spelling; empty when it was not written."""
        node: Node | None = self.node
        for step in path:
            node = node.child(step) if node else None
        return node.raw if node else ""

    def below(self, *path: str | int) -> Place:
        """The place of a part; the nearest written ancestor's when the part is a default."""
        node = self.node
        for step in path:
            node = node.child(step) or node
        return Place(node)
