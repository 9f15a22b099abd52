"""kwokgen schema: a JSON Schema, for editors."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def _names() -> list[str]:
    from kwokgen import schemas

    return list(schemas.names())


Name = Annotated[
    str, typer.Argument(metavar="NAME", help="blueprint, names, catalog/gpu, kwok/stage, …", autocompletion=_names)
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(schema)


def schema(name: Name = "blueprint") -> None:
    """Print a JSON Schema, for editors."""
    from kwokgen import schemas
    from kwokgen.cli import WRONG
    from kwokgen.cli.options import Format
    from kwokgen.cli.report import show
    from kwokgen.problem import Pos, unknown

    if name not in schemas.names():
        show([unknown(Pos("kwokgen schema"), "schema", name, schemas.names(), code="schema")], Format.text, sys.stderr)
        raise typer.Exit(WRONG)
    sys.stdout.write(schemas.text(name))
