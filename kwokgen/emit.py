"""Series to bytes: every shape is written once, cut at its slots, and stamped for every row.

The writer is our own: block style of strings, numbers and nulls is a page, and ruamel.yaml's emitter would have to be told
the style of every scalar anyway; it is held against three readers by tests/unit/test_emit.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kwokgen.series import Column, Document, Join, Series, Shape, Slot

BUFFER = 1024 * 1024
PLAIN = r"[A-Za-z_/][A-Za-z0-9_./-]*"
WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Plain words that kubectl's YAML 1.1 reader does not take for strings."""
LITERAL = r"[!-~](?:[ -~]|\n)*[!-~]\n?"
"""Texts of several lines that a literal block holds without an indentation indicator or lost characters."""


def plain(text: str) -> bool:
    """Whether a string may stand bare: YAML 1.1, YAML 1.2 and Go's reader all read it as this string."""
    return re.fullmatch(PLAIN, text) is not None and text.lower() not in WORDS


def stamp(series: Series) -> Iterator[bytes]:
    """Every document of a series as YAML, each after a `---` line, in pieces of about a MiB."""
    buffer: list[bytes] = []
    size = 0
    for run in series.runs:
        stamped = _compiled(run.shape)
        step = max(BUFFER // stamped.size, 1)
        for first in range(run.first, run.last + 1, step):
            rows = range(first, min(first + step, run.last + 1))
            buffer += stamped.filled(series.columns, rows)
            size += stamped.size * len(rows)
            if size >= BUFFER:
                yield b"".join(buffer)
                buffer, size = [], 0
    if buffer:
        yield b"".join(buffer)


def dump(document: Document) -> str:
    """One document without slots as YAML, after a `---` line."""
    return _written((document,))


def skeleton(shape: Shape) -> str:
    """A shape's text with its slots named; two shapes of the same skeleton are equal."""
    return _compiled(shape).text


def quoted(text: str) -> str:
    """A string in double quotes that every YAML reader takes.

    JSON's escapes are YAML's, but for the line breaks of Unicode, which some readers fold, and the marks of no text.
    """
    escaped = json.dumps(text, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda found: f"\\u{ord(found[0]):04x}", escaped)


class _Stamp(NamedTuple):
    """A shape cut at its slots: constant pieces, empty where a slot is, and by column and escaping the places of its slots."""

    text: str
    pieces: tuple[bytes, ...]
    places: Mapping[tuple[str, bool], Sequence[int]]
    size: int

    def filled(self, columns: Mapping[str, Column], rows: range) -> list[bytes]:
        """The pieces of some rows, in order: a column at a time, which is far less than a row at a time."""
        filled, width = [*self.pieces] * len(rows), len(self.pieces)
        for (name, escaped), places in self.places.items():
            values = _encoded(columns[name], rows, escaped=escaped)
            for place in places:
                filled[place::width] = values
        return filled


def _encoded(column: Column, rows: range, *, escaped: bool) -> list[bytes]:
    if escaped:
        return [quoted(column(index))[1:-1].encode() for index in rows]
    return [column(index).encode() for index in rows]


def _compiled(shape: Shape) -> _Stamp:
    """The stamp of a shape, cut once."""
    if shape.stamp is None:
        shape.stamp = _cut(shape)
    stamp: _Stamp = shape.stamp
    return stamp


def _cut(shape: Shape) -> _Stamp:
    slots: list[Slot] = []
    marker = _marker(shape)
    text = _written(tuple(_marked(document, marker, slots) for document in shape.documents))
    parts = re.split(rf"{marker}(\d+)x", text)
    places: dict[tuple[str, bool], list[int]] = {}
    for place in range(1, len(parts), 2):
        slot = slots[int(parts[place])]
        places.setdefault((slot.column, slot.sort == "text"), []).append(place)
        parts[place] = f"<{slot.column}:{slot.sort}>"
    pieces = [b"" if place % 2 else part.encode() for place, part in enumerate(parts)]
    return _Stamp("".join(parts), tuple(pieces), places, len(text))


def _marker(shape: Shape) -> str:
    """A word that no text of the shape holds."""
    texts = "\n".join(_texts(shape.documents))
    number = 0
    while f"kwokgenslot{number}q" in texts:
        number += 1
    return f"kwokgenslot{number}q"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield key
            yield from _texts(below)
    elif isinstance(value, list | tuple):
        for below in value:
            yield from _texts(below)
    elif isinstance(value, Join):
        yield from (part for part in value.parts if isinstance(part, str))
    elif isinstance(value, str):
        yield value


class _Mark(str):
    """A string with markers in it: bare for an int, double-quoted for all others."""

    __slots__ = ("bare",)
    bare: bool


def _marked(value: Any, marker: str, slots: list[Slot]) -> Any:
    if isinstance(value, Slot | Join):
        parts = value.parts if isinstance(value, Join) else (value,)
        text = ""
        for part in parts:
            if isinstance(part, Slot):
                text += f"{marker}{len(slots)}x"
                slots.append(part)
            else:
                text += part
        mark = _Mark(text)
        mark.bare = isinstance(value, Slot) and value.sort == "int"
        return mark
    if isinstance(value, dict):
        return {key: _marked(below, marker, slots) for key, below in value.items()}
    if isinstance(value, list):
        return [_marked(below, marker, slots) for below in value]
    return value


def _written(documents: tuple[Document, ...]) -> str:
    lines: list[str] = []
    for document in documents:
        lines.append("---")
        lines += _mapping(document, "")
    return "\n".join(lines) + "\n"


def _mapping(value: dict[str, Any], indent: str) -> Iterator[str]:
    for key, below in value.items():
        head = f"{indent}{_text(key)}:"
        if isinstance(below, dict) and below:
            yield head
            yield from _mapping(below, indent + "  ")
        elif isinstance(below, list) and below:
            yield head
            yield from _sequence(below, indent)
        else:
            yield f"{head} {_scalar(below, indent + '  ')}"


def _sequence(value: list[Any], indent: str) -> Iterator[str]:
    for below in value:
        if isinstance(below, dict | list) and below:
            inner = indent + "  "
            lines = iter(_mapping(below, inner) if isinstance(below, dict) else _sequence(below, inner))
            yield f"{indent}- {next(lines)[len(inner) :]}"
            yield from lines
        else:
            yield f"{indent}- {_scalar(below, indent + '  ')}"


def _scalar(value: Any, indent: str) -> str:
    if isinstance(value, _Mark):
        return value if value.bare else quoted(value)
    if isinstance(value, str):
        return _block(value, indent) if "\n" in value and re.fullmatch(LITERAL, value) else _text(value)
    # 1e+22 is a string to YAML 1.1, which asks for a dot.
    return re.sub(r"^(-?\d+)e", r"\1.0e", json.dumps(value))


def _text(value: str) -> str:
    return value if plain(value) else quoted(value)


def _block(text: str, indent: str) -> str:
    """A literal block: the template of a Stage stays as it was written."""
    head = "|" if text.endswith("\n") else "|-"
    return "\n".join([head, *(indent + line if line else "" for line in text.removesuffix("\n").split("\n"))])
