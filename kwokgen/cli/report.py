"""Problems as text with the line they stand in, as JSON, or as GitHub's workflow commands."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

import typer

from kwokgen.cli import WRONG
from kwokgen.cli.options import Format
from kwokgen.problem import KwokgenError, Pos, Problem, errors


@contextmanager
def reporting(
    form: Format, *, strict: bool, stream: TextIO | None = None
) -> Iterator[Callable[[Sequence[Problem]], None]]:
    """Prints problems that end the work and exits 1; the given function prints warnings, and fails when strict."""
    out = stream or sys.stderr
    try:
        yield lambda warnings: _warn(warnings, form, out, strict=strict)
    except KwokgenError as error:
        show(error.problems, form, out)
        raise typer.Exit(WRONG) from None


def _warn(warnings: Sequence[Problem], form: Format, out: TextIO, *, strict: bool) -> None:
    if warnings or (out is sys.stdout and form is Format.json):
        show(warnings, form, out)
    if warnings and strict:
        raise typer.Exit(WRONG)


def show(problems: Sequence[Problem], form: Format, out: TextIO) -> None:
    """Every problem in the given form, the text with a closing count."""
    if form is Format.json:
        typer.echo(json.dumps([_data(problem) for problem in problems], indent=2, ensure_ascii=False), file=out)
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
    lines = [f"{problem.pos}: {word}{problem.message} [{problem.code}]", *_excerpt(problem.pos)]
    margin = " " * len(str(problem.pos.line)) if problem.pos.excerpt else ""
    if problem.hint:
        lines.append(f"{margin} = hint: {problem.hint}")
    lines += [f"{margin} = {related.pos}: {related.message}" for related in problem.related]
    return "\n".join(lines)


def _excerpt(pos: Pos) -> list[str]:
    if not pos.excerpt.strip():
        return []
    number = str(pos.line)
    margin = " " * len(number)
    # A tab before the marker keeps its width in the reader's terminal.
    indent = "".join("\t" if character == "\t" else " " for character in pos.excerpt[: pos.column - 1])
    marker = "^" + "~" * (min(pos.length, len(pos.excerpt) - pos.column + 1) - 1)
    return [f"{margin} |", f"{number} | {pos.excerpt.rstrip()}", f"{margin} | {indent}{marker}"]


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
    """https://docs.github.com/actions/reference/workflow-commands-for-github-actions."""
    place = [("file", problem.pos.file)]
    if problem.pos.line:
        place += [("line", str(problem.pos.line)), ("col", str(problem.pos.column))]
    place.append(("title", f"kwokgen {problem.code}"))
    properties = ",".join(f"{key}={_escaped(value, properties=True)}" for key, value in place)
    message = f"{problem.message} ({problem.hint})" if problem.hint else problem.message
    return f"::{problem.severity} {properties}::{_escaped(message)}"


def _escaped(text: str, *, properties: bool = False) -> str:
    escapes = [("%", "%25"), ("\r", "%0D"), ("\n", "%0A")]
    if properties:
        escapes += [(":", "%3A"), (",", "%2C")]
    for character, escape in escapes:
        text = text.replace(character, escape)
    return text
