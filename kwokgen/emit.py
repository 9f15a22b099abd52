"""Series to bytes: every shape is written once with ruamel.yaml, cut at its slots, and stamped for every row."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from ruamel.yaml.emitter import Emitter, ScalarAnalysis
from ruamel.yaml.events import (
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)
from ruamel.yaml.tag import Tag

from kwokgen.series import Column, Document, Join, Series, Shape, Slot

STRING = Tag(suffix="tag:yaml.org,2002:str")
BUFFER = 1024 * 1024
PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Plain words that kubectl's YAML 1.1 reader does not take for strings."""
LITERAL = re.compile(r"[^\s](?:[ -~]|\n)*[^\s]\n?")
"""Texts of several lines that a literal block holds without an indentation indicator or lost characters."""


def plain(text: str) -> bool:
    """Whether a string may stand bare: YAML 1.1, YAML 1.2 and Go's reader all read it as this string."""
    return PLAIN.fullmatch(text) is not None and text.lower() not in WORDS


def stamp(series: Series) -> Iterator[bytes]:
    """Every document of a series as YAML, each after a `---` line, in pieces of about a MiB."""
    buffer: list[bytes] = []
    size = 0
    for run in series.runs:
        stamped = _compiled(run.shape)
        row = stamped.row(series.columns)
        for index in range(run.first, run.last + 1):
            buffer += row(index)
            size += stamped.size
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


@dataclass(frozen=True, slots=True)
class _Stamp:
    """A shape cut at its slots: constant pieces and column numbers in turn."""

    text: str
    pieces: tuple[bytes, ...]
    slots: tuple[Slot, ...]
    size: int

    def row(self, columns: Mapping[str, Column]) -> Any:
        """The pieces of one row, in order."""
        if not self.slots:
            return lambda _index: self.pieces
        needed = list(dict.fromkeys((slot.column, slot.sort == "text") for slot in self.slots))
        places = {column: number + len(self.pieces) for number, column in enumerate(needed)}
        order: list[int] = []
        for number, slot in enumerate(self.slots):
            order += (number, places[slot.column, slot.sort == "text"])
        pick, pieces = itemgetter(*order, len(self.pieces) - 1), self.pieces
        values = [_encoded(columns[name], escaped=escaped) for name, escaped in needed]
        return lambda index: pick((*pieces, *[value(index) for value in values]))


def _encoded(column: Column, *, escaped: bool) -> Any:
    if escaped:
        return lambda index: quoted(column(index))[1:-1].encode()
    return lambda index: column(index).encode()


_STAMPS: dict[int, tuple[Shape, _Stamp]] = {}


def _compiled(shape: Shape) -> _Stamp:
    """The stamp of a shape, which never changes once it is built."""
    known = _STAMPS.get(id(shape))
    if known is None:
        known = _STAMPS[id(shape)] = (shape, _cut(shape))
    return known[1]


def _cut(shape: Shape) -> _Stamp:
    slots: list[Slot] = []
    marker = _marker(shape)
    text = _written(tuple(_marked(document, marker, slots) for document in shape.documents))
    parts = re.split(rf"{marker}(\d+)x", text)
    pieces = [part.encode() for part in parts[::2]]
    used = tuple(slots[int(number)] for number in parts[1::2])
    named = "".join(
        part if number % 2 == 0 else f"<{slots[int(part)].column}:{slots[int(part)].sort}>"
        for number, part in enumerate(parts)
    )
    return _Stamp(named, tuple(pieces), used, len(text))


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


class _Writer(Emitter):
    """ruamel.yaml's emitter, told the style of every scalar: it need not look at each character to find one."""

    MAX_SIMPLE_KEY_LENGTH = 1_000  # YAML reads keys of up to 1,024 characters; an annotation's may have 317

    def analyze_scalar(self, scalar: str) -> ScalarAnalysis:
        return ScalarAnalysis(
            scalar=scalar,
            empty=not scalar,
            multiline=False,
            allow_flow_plain=True,
            allow_block_plain=True,
            allow_single_quoted=False,
            allow_double_quoted=True,
            allow_block=True,
        )

    def write_double_quoted(self, text: str, split: bool = True) -> None:  # noqa: ARG002, FBT001, FBT002 - its signature
        """The same escapes as in stamped text."""
        self.write_indicator(quoted(text), need_whitespace=True)


def _written(documents: tuple[Document, ...]) -> str:
    stream = io.StringIO()
    emitter = _Writer(stream, width=10**9, allow_unicode=True)
    emitter.emit(StreamStartEvent())
    for document in documents:
        emitter.emit(DocumentStartEvent(explicit=True))
        _emit(emitter, document)
        emitter.emit(DocumentEndEvent())
    emitter.emit(StreamEndEvent())
    return stream.getvalue()


def _emit(emitter: Any, value: Any) -> None:
    if isinstance(value, dict):
        emitter.emit(MappingStartEvent(None, None, implicit=True, flow_style=not value))
        for key, below in value.items():
            _emit(emitter, key)
            _emit(emitter, below)
        emitter.emit(MappingEndEvent())
    elif isinstance(value, list):
        emitter.emit(SequenceStartEvent(None, None, implicit=True, flow_style=not value))
        for below in value:
            _emit(emitter, below)
        emitter.emit(SequenceEndEvent())
    else:
        text, style = _scalar(value)
        emitter.emit(ScalarEvent(None, STRING, (True, True), text, style=style))


def _scalar(value: Any) -> tuple[str, str | None]:
    if isinstance(value, _Mark):
        return value, None if value.bare else '"'
    if isinstance(value, str):
        if plain(value):
            return value, None
        return value, "|" if "\n" in value and LITERAL.fullmatch(value) else '"'
    return json.dumps(value), None
