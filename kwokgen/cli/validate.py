"""kwokgen validate: every problem of blueprints, nothing written."""

from __future__ import annotations

import sys

import typer

from kwokgen.cli.options import Blueprints, Catalogs, Format, Formats, Overlays, Sets, Strict


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(validate)


def validate(
    blueprints: Blueprints,
    overlay: Overlays = [],
    set_: Sets = [],
    catalog: Catalogs = [],
    strict: Strict = False,
    format_: Formats = Format.text,
) -> None:
    """Report every problem of blueprints; write nothing."""
    from kwokgen.cli import WRONG, report
    from kwokgen.cli.options import rendered
    from kwokgen.problem import KwokgenError, Problem, errors

    problems: list[Problem] = []
    for blueprint in blueprints:
        try:
            problems += rendered(blueprint, overlay, set_, catalog).warnings
        except KwokgenError as error:
            problems += error.problems
    if problems or format_ is Format.json:
        report.show(problems, format_, sys.stdout)
    if errors(problems) or (strict and problems):
        raise typer.Exit(WRONG)
