"""Traces of jobs: a CSV file becomes a list in the blueprint's tree, each value at its own line and column."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import PurePath
from typing import NamedTuple

from kwokgen import schemas
from kwokgen.conform import differences, shortened
from kwokgen.model.place import Entry, Node
from kwokgen.problem import KwokgenError, Pos, Problem, nearest, quoted
from kwokgen.schemas import Schema

COLUMNS = ("arrival", "duration", "gpus", "pods")
"""`pods` may be missing, unless the blueprint names its column; whatever else a file has is not read."""
NEEDED = COLUMNS[:3]
CELL = re.compile(r'(?:^|,)\s*(?P<text>"(?:[^"]|"")*"[^,]*|[^,]*)')
OTHERS = {";": "semicolons", "\t": "tabs", "|": "bars"}
"""What parts columns elsewhere."""
Text = Callable[[str, str], str]
"""What a file holds: its name as it is written, and the file that names it."""


def put_in(blueprint: Node, text: Text) -> tuple[Node, tuple[Problem, ...]]:
    """The tree with every trace that is a file's name read, and what is wrong with the files.

    One of which no line can be read stays a name, so that the blueprint's other mistakes are found in the same run.
    """
    spec = blueprint.child("spec")
    items = spec.child("workloads") if spec else None
    if spec is None or items is None or not isinstance(items.value, tuple):
        return blueprint, ()
    if not any(item.child("trace") for item in items.value):
        return blueprint, ()
    read = [_read(item, text) for item in items.value]
    done = _with(spec, "workloads", items._replace(value=tuple(item for item, _ in read)))
    return _with(blueprint, "spec", done), tuple(problem for _, found in read for problem in found)


def _with(node: Node, key: str, below: Node) -> Node:
    entries = node.value if isinstance(node.value, dict) else {}
    return node._replace(value=entries | {key: entries[key]._replace(node=below)})


def _read(item: Node, text: Text) -> tuple[Node, tuple[Problem, ...]]:
    written = item.child("trace")
    if written is None or not isinstance(written.value, str | dict):
        return item, ()
    named = written if isinstance(written.value, str) else (written.child("file") or written)
    if not isinstance(named.value, str):
        return item, ()
    path = str(PurePath(named.pos.file).parent / named.value)
    try:
        lines = text(named.value, named.pos.file).splitlines()
    except KwokgenError as error:
        said = error.problems[0]
        return item, (Problem(named.pos, "trace", f"{path}: {said.message}", said.hint),)
    return _filled(item, written, path, lines)


def _filled(item: Node, written: Node, path: str, lines: Sequence[str]) -> tuple[Node, tuple[Problem, ...]]:
    """A workload with the rows of its file; where the schema refuses a word, that stays, so that it is told."""
    wrong = list(differences(written, _schema()))
    if any("columns" in place for place in wrong):
        return item, ()
    rows, problems = _rows(path, lines, _own_names(written))
    return item if wrong or (problems and not rows) else _with(item, "trace", Node(written.pos, rows)), problems


@cache
def _schema() -> Schema:
    """What a blueprint says of a trace."""
    trace: Schema = schemas.load("blueprint")["$defs"]["workload"]["properties"]["trace"]
    return {"$id": f"{schemas.ROOT}trace", **trace}


def _own_names(written: Node) -> Mapping[str, str]:
    """What the file calls each column whose name the blueprint says."""
    columns = written.child("columns")
    own = columns.plain() if columns else {}
    return {column: own[column].strip() for column in COLUMNS if column in own}


class _Cell(NamedTuple):
    """What stands between two commas, without blanks and quotes around it; `at` is its column, from 1."""

    text: str
    at: int


def _cells(line: str) -> list[_Cell]:
    return [_cell(found["text"].rstrip(), found.start("text") + 1) for found in CELL.finditer(line)]


def _cell(text: str, at: int) -> _Cell:
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        return _Cell(text[1:-1].replace('""', '"').strip(), at + 1)
    return _Cell(text, at)


def _rows(path: str, lines: Sequence[str], own: Mapping[str, str]) -> tuple[tuple[Node, ...], tuple[Problem, ...]]:
    """A mapping a line, none when the first line does not name the columns; and what is wrong, line by line."""
    first = lines[0] if lines else ""
    try:
        places = _places(path, first, own)
    except KwokgenError as error:
        return (), error.problems
    number, problems, done = len(_cells(first)), list[Problem](), list[Node]()
    for index, line in enumerate(lines[1:], start=2):
        cells = _cells(line)
        if line.strip() and len(cells) != number:
            problems.append(_uneven(path, index, line, cells, number))
        elif line.strip():
            done.append(_row(path, index, line, {column: cells[place] for column, place in places.items()}))
    return tuple(done), tuple(problems)


def _places(path: str, first: str, own: Mapping[str, str]) -> dict[str, int]:
    """Which cell each column is."""
    head = [cell.text for cell in _cells(first)]
    names = {column: own.get(column, column) for column in COLUMNS}
    for column in (*NEEDED, *own):
        if names[column] not in head:
            raise KwokgenError(Problem(_pos(path, 1, first, 1, ""), "trace", *_missing(column, names[column], head)))
    for cell in _cells(first):
        if cell.text in names.values() and head.count(cell.text) > 1:
            message = f'{head.count(cell.text)} columns are named "{cell.text}"'
            hint = "give the one that is not meant another name"
            raise KwokgenError(Problem(_pos(path, 1, first, cell.at, cell.text), "trace", message, hint))
    return {column: head.index(name) for column, name in names.items() if name in head}


def _missing(column: str, name: str, head: Sequence[str]) -> tuple[str, str]:
    """What is said of a column that is not there, and the hint."""
    if not any(head):
        return "no line names the columns", "the first line names them"
    message = f'no column "{shortened(name)}". available: {quoted(map(shortened, head))}'
    other = next((mark for mark in OTHERS if len(head) == 1 and mark in head[0]), "")
    if other:
        return message, f"commas part the columns, not {OTHERS[other]}"
    near = nearest(name, head)
    written = json.dumps(near, ensure_ascii=False)
    return (
        message,
        f"did you mean {written}? (columns: {{{column}: {written}}})" if near else "the first line names them",
    )


def _uneven(path: str, number: int, line: str, cells: Sequence[_Cell], wanted: int) -> Problem:
    more = cells[wanted] if len(cells) > wanted else cells[0]
    message = f"{len(cells)} fields, where the first line names {wanted} columns"
    hint = (
        'write a comma within a field in quotes, as "1,5"'
        if len(cells) > wanted
        else "a field may be empty, but has its comma"
    )
    return Problem(_pos(path, number, line, more.at, more.text), "trace", message, hint)


def _row(path: str, number: int, line: str, cells: Mapping[str, _Cell]) -> Node:
    entries: dict[str, Entry] = {}
    for column, cell in cells.items():
        # A field that is empty is one that is missing, which the schema says.
        if cell.text:
            pos = _pos(path, number, line, cell.at, cell.text)
            entries[column] = Entry(pos, Node(pos, _value(cell.text), cell.text))
    return Node(_pos(path, number, line, 1, line), entries)


def _value(field: str) -> int | float | str:
    if re.fullmatch(r"[0-9]+", field):
        return int(field) if len(field) < 19 else field
    return float(field) if re.fullmatch(r"[0-9]{1,15}\.[0-9]{1,15}", field) else field


def _pos(path: str, line: int, excerpt: str, column: int, text: str) -> Pos:
    return Pos(path, line, column, excerpt[:400], max(1, len(text)))
