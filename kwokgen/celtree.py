"""The tree of a compiled CEL expression, from the bytes that a compiler writes it to.

CheckedExpr: https://github.com/google/cel-spec/blob/v0.24.0/proto/cel/expr/checked.proto and syntax.proto beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Message = Mapping[int, list[Any]]
"""The values of a message by the numbers of its fields: integers, and bytes that are texts or messages."""
CONST, IDENT, SELECT, CALL, LIST, STRUCT, COMPREHENSION = range(3, 10)
TEXT = 10
"""The sort of constants that are text."""
PRIMITIVES = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
WELL_KNOWN = {1: "any", 2: "timestamp", 3: "duration"}


class Node(NamedTuple):
    """A part of an expression; `name` is an identifier, a field or a function, or what a text says.

    `parts` are what it is made of: an object before its arguments, keys and values in turn. A `tested` field is
    only asked for.
    """

    number: int
    sort: int
    name: str
    parts: tuple[Node, ...] = ()
    tested: bool = False
    optional: frozenset[int] = frozenset()

    def all(self) -> Iterator[Node]:
        """It and everything below."""
        yield self
        for part in self.parts:
            yield from part.all()


class Tree(NamedTuple):
    """An expression; `types` and `offsets`, which count characters, are of the numbers of its nodes."""

    root: Node
    types: Mapping[int, str]
    offsets: Mapping[int, int]


def tree(written: bytes) -> Tree:
    """What `Expression.serialize` wrote."""
    checked = _message(_message(written)[2][0])
    types = {_number(entry, 1): named(_message(_one(entry, 2))) for entry in map(_message, checked.get(3, []))}
    positions = _message(_one(checked, 5)).get(4, [])
    offsets = {_number(entry, 1): _number(entry, 2) for entry in map(_message, positions)}
    return Tree(_node(_one(checked, 4)), types, offsets)


def _message(written: bytes) -> Message:
    """The wire format: https://protobuf.dev/programming-guides/encoding/ ."""
    done: dict[int, list[Any]] = {}
    index = 0
    while index < len(written):
        key, index = _varint(written, index)
        value: int | bytes
        if key & 7 == 0:
            value, index = _varint(written, index)
        else:
            size, index = _varint(written, index) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], index)
            value, index = written[index : index + size], index + size
        done.setdefault(key >> 3, []).append(value)
    return done


def _varint(written: bytes, index: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, index = written[index], index + 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, index


def _one(message: Message, field: int) -> bytes:
    value: bytes = message.get(field, [b""])[0]
    return value


def _number(message: Message, field: int) -> int:
    value: int = message.get(field, [0])[0]
    return value


def _node(written: bytes) -> Node:
    message = _message(written)
    number = _number(message, 2)
    sort = next((sort for sort in range(CONST, COMPREHENSION + 1) if sort in message), CONST)
    return READERS[sort](number, _message(_one(message, sort)))


def _const(number: int, body: Message) -> Node:
    return Node(number, TEXT if 6 in body else CONST, _one(body, 6).decode())


def _ident(number: int, body: Message) -> Node:
    return Node(number, IDENT, _one(body, 1).decode())


def _select(number: int, body: Message) -> Node:
    return Node(number, SELECT, _one(body, 2).decode(), (_node(_one(body, 1)),), tested=bool(_number(body, 3)))


def _call(number: int, body: Message) -> Node:
    return Node(number, CALL, _one(body, 2).decode(), tuple(map(_node, (*body.get(1, []), *body.get(3, [])))))


def _list(number: int, body: Message) -> Node:
    return Node(number, LIST, "", tuple(map(_node, body.get(1, []))), optional=_packed(_one(body, 2)))


def _struct(number: int, body: Message) -> Node:
    """A map has pairs of keys and values for parts, an object by its fields only values."""
    entries = [_message(entry) for entry in body.get(2, [])]
    parts = tuple(_node(entry[field][0]) for entry in entries for field in (3, 4) if field in entry)
    optional = frozenset(index for index, entry in enumerate(entries) if _number(entry, 5))
    return Node(number, STRUCT, _one(body, 1).decode(), parts, optional=optional)


def _comprehension(number: int, body: Message) -> Node:
    return Node(
        number, COMPREHENSION, _one(body, 3).decode(), tuple(_node(body[field][0]) for field in (2, 4, 5, 6, 7))
    )


READERS = {
    CONST: _const,
    IDENT: _ident,
    SELECT: _select,
    CALL: _call,
    LIST: _list,
    STRUCT: _struct,
    COMPREHENSION: _comprehension,
}


def _packed(written: bytes) -> frozenset[int]:
    done, index = set(), 0
    while index < len(written):
        value, index = _varint(written, index)
        done.add(value)
    return frozenset(done)


def named(message: Message) -> str:
    """A type as the API server calls it."""
    field = next(iter(message), 1)
    value = message.get(field, [b""])[0]
    below = _message(value) if field in {6, 7, 14} else {}
    if field == 14:
        parts = [named(_message(each)) for each in below.get(2, [])]
        return _one(below, 1).decode() + (f"({', '.join(parts)})" if parts else "")
    if field in {6, 7}:
        parts = [named(_message(_one(below, number))) for number in (range(1, 2) if field == 6 else range(1, 3))]
        return f"{'list' if field == 6 else 'map'}({', '.join(parts)})"
    if field == 9:
        return str(value.decode())
    known = {1: "dyn", 2: "null", 3: PRIMITIVES.get(value), 5: WELL_KNOWN.get(value)}
    return known.get(field) or f"type {field}"
