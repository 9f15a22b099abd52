"""Problems as text with the line they stand in, as JSON, or as GitHub's workflow commands."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

import typer

from kwokgen.cli import WRONG
from kwokgen.cli.options import Format
from kwokgen.problem import KwokgenError, Pos, Problem, errors

UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
"""What a terminal obeys instead of showing it: controls, line breaks of Unicode, and marks that turn the text around."""
SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def visible(text: str) -> str:
    """A stranger's text on one line and without orders to a terminal, which are written as escapes."""
    return UNSEEN.sub(lambda found: SHORT.get(found[0]) or _escape(found[0]), text)


def dumped(data: object) -> str:
    """Data as JSON for people and programs: any letter as it is, except for those that a terminal obeys."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    # The line breaks outside of strings are JSON's own; inside there are none.
    return UNSEEN.sub(lambda found: "\n" if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


def command(name: str, properties: dict[str, str], message: str) -> str:
    """https://docs.github.com/actions/reference/workflow-commands-for-github-actions."""
    listed = ",".join(f"{key}={_percent(value, ':,')}" for key, value in properties.items())
    return f"::{name} {listed}::{_percent(message)}"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _percent(text: str, more: str = "") -> str:
    return re.sub(f"[%{more}]", lambda found: f"%{ord(found[0]):02X}", visible(text))


@contextmanager
def reporting(form: Format, *, strict: bool) -> Iterator[Callable[[Sequence[Problem]], None]]:
    """Prints problems that end the work and exits 1; the given function prints warnings, and fails when strict."""
    try:
        yield lambda warnings: _warn(warnings, form, strict=strict)
    except KwokgenError as error:
        show(error.problems, form, sys.stderr)
        raise typer.Exit(WRONG) from None


def _warn(warnings: Sequence[Problem], form: Format, *, strict: bool) -> None:
    if warnings:
        show(warnings, form, sys.stderr)
    if warnings and strict:
        raise typer.Exit(WRONG)


def show(problems: Sequence[Problem], form: Format, out: TextIO) -> None:
    """Every problem in the given form, the text with a closing count."""
    if form is Format.json:
        typer.echo(dumped([_data(problem) for problem in problems]), file=out)
        return
    for problem in problems:
        typer.echo(_github(problem) if form is Format.github else _text(problem), file=out)
    if form is Format.text and problems:
        typer.echo(_count(problems), file=out)


def _count(problems: Sequence[Problem]) -> str:
    wrong = len(errors(problems))
    parts = ((wrong, "problem"), (len(problems) - wrong, "warning"))
    return ", ".join(f"{number} {word}{'s' if number != 1 else ''}" for number, word in parts if number)


def _text(problem: Problem) -> str:
    word = "warning: " if problem.severity == "warning" else ""
    lines = [visible(f"{problem.pos}: {word}{problem.message} [{problem.code}]"), *_excerpt(problem.pos)]
    margin = " " * len(str(problem.pos.line)) if problem.pos.excerpt else ""
    if problem.hint:
        lines.append(visible(f"{margin} = hint: {problem.hint}"))
    lines += [visible(f"{margin} = {related.pos}: {related.message}") for related in problem.related]
    return "\n".join(lines)


def _excerpt(pos: Pos) -> list[str]:
    if not pos.excerpt.strip():
        return []
    number = str(pos.line)
    margin = " " * len(number)
    start, end = pos.column - 1, pos.column - 1 + pos.length
    # A tab before the marker keeps its width in the reader's terminal.
    indent = re.sub(r"[^\t]", " ", _shown(pos.excerpt[:start]))
    marker = "^" + "~" * (len(_shown(pos.excerpt[start:end])) - 1)
    return [f"{margin} |", f"{number} | {_shown(pos.excerpt.rstrip())}", f"{margin} | {indent}{marker}"]


def _shown(line: str) -> str:
    return "\t".join(visible(part) for part in line.split("\t"))


def _data(problem: Problem) -> dict[str, object]:
    related = [_place(entry.pos) | {"message": entry.message} for entry in problem.related]
    return {
        **_place(problem.pos),
        "severity": problem.severity,
        "code": problem.code,
        "message": problem.message,
        "hint": problem.hint,
        "related": related,
    }


def _place(pos: Pos) -> dict[str, object]:
    return {"file": pos.file, "line": pos.line, "column": pos.column}


def _github(problem: Problem) -> str:
    place = {"file": problem.pos.file}
    if problem.pos.line:
        place |= {"line": str(problem.pos.line), "col": str(problem.pos.column)}
    message = f"{problem.message} ({problem.hint})" if problem.hint else problem.message
    return command(problem.severity, place | {"title": f"kwokgen {problem.code}"}, message)
