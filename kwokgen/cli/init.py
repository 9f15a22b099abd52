"""kwokgen init: a blueprint to start from."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kwokgen import shipped

BLUEPRINTS = "blueprints"


def _names() -> list[str]:
    return sorted(file.stem for file in shipped.folder(BLUEPRINTS).glob("*.yaml"))


From = Annotated[
    str, typer.Option("--from", metavar="EXAMPLE", help="The example to start from.", autocompletion=_names)
]


EDITORS = "# yaml-language-server:"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(init)


def init(example: From = "quickstart") -> None:
    """Print a commented blueprint to start from."""
    from kwokgen.cli import WRONG
    from kwokgen.cli.options import Format
    from kwokgen.cli.report import show
    from kwokgen.problem import Pos, unknown

    if example not in _names():
        show([unknown(Pos("kwokgen init"), "example", example, _names(), code="example")], Format.text, sys.stderr)
        raise typer.Exit(WRONG)
    text = (shipped.folder(BLUEPRINTS) / f"{example}.yaml").read_text(encoding="utf-8")
    # The schema that the examples name for editors lies beside them, not beside the user's file.
    sys.stdout.write(text.partition("\n")[2] if text.startswith(EDITORS) else text)
