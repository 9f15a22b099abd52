"""Traces of jobs: a CSV file becomes a list in the blueprint's tree, each value at its own line and column."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath

from kwokgen.model.place import Entry, Node
from kwokgen.problem import KwokgenError, Pos, Problem, nearest, quoted

COLUMNS = ("arrival", "duration", "gpus", "pods")
"""`pods` may be missing; whatever else a file has is not read."""
NEEDED = COLUMNS[:3]
Text = Callable[[str], str]


def put_in(blueprint: Node, text: Text) -> Node:
    """The tree with every trace that is a file's name read; `text` is what a file holds.

    Raises KwokgenError for every file that cannot be read as a trace.
    """
    spec = blueprint.child("spec")
    items = spec.child("workloads") if spec else None
    if spec is None or items is None or not isinstance(items.value, tuple):
        return blueprint
    if not any(item.child("trace") for item in items.value):
        return blueprint
    problems: list[Problem] = []
    done: list[Node] = []
    for item in items.value:
        try:
            done.append(_read(item, text))
        except KwokgenError as error:
            problems += error.problems
    if problems:
        raise KwokgenError(*problems)
    return _with(blueprint, "spec", _with(spec, "workloads", items._replace(value=tuple(done))))


def _with(node: Node, key: str, below: Node) -> Node:
    entries = node.value if isinstance(node.value, dict) else {}
    return node._replace(value=entries | {key: entries[key]._replace(node=below)})


def _read(item: Node, text: Text) -> Node:
    written = item.child("trace")
    if written is None or not isinstance(written.value, str | dict):
        return item
    file = written.value if isinstance(written.value, str) else (written.child("file") or written).value
    if not isinstance(file, str):
        return item
    path = str(PurePath(written.pos.file).parent / file)
    try:
        lines = text(path).splitlines()
    except KwokgenError as error:
        raise KwokgenError(Problem(written.pos, "trace", f"{path}: {error.problems[0].message}")) from None
    return _with(item, "trace", Node(written.pos, tuple(_rows(path, lines, _names(written)))))


def _names(written: Node) -> Mapping[str, str]:
    """What the file calls each column."""
    columns = written.child("columns")
    own = columns.plain() if columns else {}
    return {column: str(own.get(column, column)) for column in COLUMNS}


def _rows(path: str, lines: Sequence[str], names: Mapping[str, str]) -> Iterator[Node]:
    """A mapping a line.

    Raises KwokgenError when the first line does not name the columns.
    """
    head = next(csv.reader(lines[:1]), [])
    for column in NEEDED:
        if names[column] not in head:
            message = f'no column "{names[column]}". available: {quoted(head)}' if head else "no line names the columns"
            near = nearest(names[column], head)
            hint = f'did you mean "{near}"? (columns: {{{column}: {near}}})' if near else "the first line names them"
            raise KwokgenError(Problem(_pos(path, 1, lines[0] if lines else "", 0, ""), "trace", message, hint))
    places = {column: head.index(name) for column, name in names.items() if name in head}
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            yield _row(path, number, line, places)


def _row(path: str, number: int, line: str, places: Mapping[str, int]) -> Node:
    fields = next(csv.reader([line]))
    start = _pos(path, number, line, 0, line)
    entries: dict[str, Entry] = {}
    for column, place in places.items():
        # A line that is too short misses its last columns, which the schema says.
        if place < len(fields) and fields[place].strip():
            field = fields[place].strip()
            before = line.find(field, sum(map(len, fields[:place])) + place)
            pos = _pos(path, number, line, max(0, before), field)
            entries[column] = Entry(pos, Node(pos, _value(field), field))
    return Node(start, entries)


def _value(field: str) -> int | float | str:
    if re.fullmatch(r"[0-9]+", field):
        return int(field) if len(field) < 19 else field
    return float(field) if re.fullmatch(r"[0-9]{1,15}\.[0-9]{1,15}", field) else field


def _pos(path: str, line: int, excerpt: str, before: int, text: str) -> Pos:
    return Pos(path, line, before + 1, excerpt[:400], max(1, len(text)))
