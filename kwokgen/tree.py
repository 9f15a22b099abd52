"""YAML text in, a tree of values with their places out; every mistake of the text is a Problem."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.reader import ReaderError

from kwokgen.model.place import Based, Entry, Node, Scalar
from kwokgen.problem import KwokgenError, Pos, Problem

MOST_NODES = 200_000
MOST_DEPTH = 64
MERGE = str(b"<<", "ascii")
"""The plain word, an object of its own: a quoted one is a key like any other."""
STR_TAG = "tag:yaml.org,2002:str"
NULL = re.compile(r"|~|null|Null|NULL")
BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
INT = re.compile(r"[-+]?[0-9]+")
BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def parse(text: str, file: str) -> Node:
    """The tree of a text; `file` is what its places are called.

    Raises KwokgenError with every duplicate key, or with the first mistake after which nothing can be read.
    """
    builder = _Builder(file, text.split("\n"))
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            builder.take(event)
    except MarkedYAMLError as error:
        marks = (error.problem_mark, error.context_mark)
        # A quote that is not closed is found at the end of the file, and is looked for at its start.
        open_quote = "quoted scalar" in str(error.context) and "end of stream" in str(error.problem)
        mark = next(filter(None, reversed(marks) if open_quote else marks), None)
        pos = builder.pos(mark.line, mark.column) if mark else Pos(file)
        raise KwokgenError(*builder.problems, Problem(pos, "yaml", _yaml_message(error))) from None
    except ReaderError as error:
        raise KwokgenError(_bad_character(error, text, file)) from None
    return builder.result()


def _yaml_message(error: MarkedYAMLError) -> str:
    said = " ".join(filter(None, (error.context, error.problem)))
    if "\\t" in said or "'\t'" in said:
        said = "a tab stands where YAML wants spaces"
    return f"not YAML: {said}"


def _bad_character(error: ReaderError, text: str, file: str) -> Problem:
    line = text.count("\n", 0, error.position) + 1
    column = error.position - text.rfind("\n", 0, error.position)
    return Problem(Pos(file, line, column), "yaml", f"the character #x{ord(text[error.position]):04x} is not allowed")


def scalar(raw: str) -> Scalar:
    """What a plain scalar means in YAML 1.2's core schema."""
    if NULL.fullmatch(raw):
        return None
    if BOOL.fullmatch(raw):
        return raw.lower() == "true"
    if INT.fullmatch(raw):
        # int() refuses thousands of digits, and nobody meant them: far too much is as good.
        return int(raw[:400])
    if BASED.fullmatch(raw):
        return Based(int(raw[:400], 0))
    return float(raw) if FLOAT.fullmatch(raw) else raw


@dataclass(slots=True, eq=False, repr=False)
class _Open:
    """A mapping or sequence that is still being read."""

    pos: Pos
    anchor: str | None
    keys: list[Node] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    mapping: bool = True


@dataclass(slots=True, eq=False, repr=False)
class _Builder:
    """Takes parser events, with a stack of its own, so that no nesting can exhaust Python's."""

    file: str
    lines: list[str]
    problems: list[Problem] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, Node] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    count: int = 0
    root: Node | None = None
    documents: int = 0

    def pos(self, line: int, column: int, length: int = 1) -> Pos:
        text = self.lines[line] if line < len(self.lines) else ""
        return Pos(self.file, line + 1, column + 1, text[:400], max(1, length))

    def take(self, event: Any) -> None:
        line, column = event.start_mark.line, event.start_mark.column
        if isinstance(event, DocumentStartEvent):
            self._document(line, column)
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            self._open(event, self.pos(line, column))
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._close()
        elif isinstance(event, AliasEvent):
            self._alias(event.anchor, self.pos(line, column, len(event.anchor) + 1))
        elif isinstance(event, ScalarEvent):
            self._scalar(event, self._scalar_pos(event))

    def result(self) -> Node:
        if self.problems:
            raise KwokgenError(*self.problems)
        if self.root is None or self.root.value is None:
            raise KwokgenError(Problem(Pos(self.file), "empty", "the file holds no YAML document"))
        return self.root

    def _document(self, line: int, column: int) -> None:
        self.documents += 1
        if self.documents > 1:
            hint = "put each blueprint into a file of its own"
            self._fail(self.pos(line, column), "documents", "a second YAML document starts here", hint)

    def _scalar_pos(self, event: Any) -> Pos:
        start, end = event.start_mark, event.end_mark
        if (start.line, start.column) == (end.line, end.column):
            return self._after_key() or self.pos(start.line, start.column)
        length = end.column - start.column if end.line == start.line else 1
        return self.pos(start.line, start.column, length)

    def _after_key(self) -> Pos | None:
        """Where a value that is not there should stand; the parser places it at whatever comes next."""
        top = self.stack[-1] if self.stack else None
        if top is None or not top.mapping or len(top.keys) == len(top.nodes):
            return None
        key = top.keys[-1].pos
        return replace(key, column=key.column + key.length + 1, length=1)

    def _open(self, event: Any, pos: Pos) -> None:
        self._tag(event, pos)
        if len(self.stack) >= MOST_DEPTH:
            self._fail(pos, "nesting", f"nested deeper than {MOST_DEPTH} levels")
        self.stack.append(_Open(pos, event.anchor, mapping=isinstance(event, MappingStartEvent)))

    def _close(self) -> None:
        done = self.stack.pop()
        value = self._mapping(done) if done.mapping else tuple(done.nodes)
        self._put(Node(done.pos, value), done.anchor)

    def _scalar(self, event: Any, pos: Pos) -> None:
        plain = event.style in (None, "") and event.implicit[0]
        if not plain:
            self._tag(event, pos)
        text = event.value if event.value.isascii() else self._joined(event.value, pos)
        value = MERGE if plain and text == MERGE else scalar(text) if plain else text
        self._put(Node(pos, value, text), event.anchor)

    def _joined(self, text: str, pos: Pos) -> str:
        """JSON escapes characters beyond 16 bits as two halves, which are one character."""
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self.problems.append(Problem(pos, "yaml", "half of a surrogate pair is no character", "write both halves"))
            return ""

    def _tag(self, event: Any, pos: Pos) -> None:
        tag = str(event.tag) if event.tag else ""
        if tag and tag not in (STR_TAG, "!"):
            self.problems.append(Problem(pos, "tag", f'the tag "{tag}" is not known', "leave it out"))

    def _alias(self, name: str, pos: Pos) -> None:
        node = self.anchors.get(name)
        if node is None:
            self._fail(pos, "yaml", f'not YAML: no anchor "{name}" stands before this alias')
            return
        self._put(Node(pos, node.value, node.raw), None, self.sizes.get(id(node.value), 1))

    def _put(self, node: Node, anchor: str | None, size: int | None = None) -> None:
        self.sizes[id(node.value)] = size or self._size(node)
        self.count += self.sizes[id(node.value)] if size else 1
        if self.count > MOST_NODES:
            self._fail(node.pos, "too-large", f"more than {MOST_NODES} values, aliases written out")
        if anchor:
            self.anchors[anchor] = node
        if not self.stack:
            self.root = node
            return
        top = self.stack[-1]
        target = top.keys if top.mapping and len(top.keys) == len(top.nodes) else top.nodes
        target.append(node)

    def _size(self, node: Node) -> int:
        """How many values a node is with its aliases written out."""
        if isinstance(node.value, dict):
            return 1 + sum(self.sizes.get(id(entry.node.value), 1) for entry in node.value.values())
        if isinstance(node.value, tuple):
            return 1 + sum(self.sizes.get(id(below.value), 1) for below in node.value)
        return 1

    def _mapping(self, done: _Open) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        merged: list[Node] = []
        for key, node in zip(done.keys, done.nodes, strict=True):
            if key.value is MERGE and isinstance(node.value, dict | tuple):
                merged += node.value if isinstance(node.value, tuple) else (node,)
            elif isinstance(key.value, dict | tuple):
                self.problems.append(Problem(key.pos, "key", "a key must be a word, not a mapping or a list"))
            elif key.raw in entries:
                self.problems.append(_duplicate(key, entries[key.raw]))
            else:
                entries[key.raw] = Entry(key.pos, node)
        for node in merged:
            self._merge(entries, node)
        return entries

    def _merge(self, entries: dict[str, Entry], node: Node) -> None:
        if not isinstance(node.value, dict):
            self.problems.append(Problem(node.pos, "key", f'only mappings can be merged, not "{node.raw or "a list"}"'))
            return
        for name, entry in node.value.items():
            entries.setdefault(name, entry)

    def _fail(self, pos: Pos, code: str, message: str, hint: str = "") -> None:
        raise KwokgenError(*self.problems, Problem(pos, code, message, hint))


def _duplicate(key: Node, first: Entry) -> Problem:
    where = f"{first.key_pos.line}:{first.key_pos.column}"
    return Problem(key.pos, "duplicate-key", f'key "{key.raw}" is given twice, first at {where}', "keep one of them")
