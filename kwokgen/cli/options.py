"""Options that several commands share, and the one way from them to a rendered cluster."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kwokgen.catalog import Catalog
    from kwokgen.pipeline import Rendered


class Format(StrEnum):
    """How an answer and the problems are written."""

    text = "text"
    json = "json"
    github = "github"


class Listing(StrEnum):
    """The same of a command that has no place in a file to annotate."""

    text = "text"
    json = "json"


def _once(blueprints: list[str]) -> list[str]:
    if blueprints.count("-") > 1:
        raise typer.BadParameter("- is standard input, which is there once")
    return blueprints


Blueprint = Annotated[str, typer.Argument(metavar="BLUEPRINT", help="A blueprint's file; - is standard input.")]
Blueprints = Annotated[
    list[str],
    typer.Argument(metavar="BLUEPRINT…", callback=_once, help="Blueprints' files; - is standard input."),
]
Overlays = Annotated[
    list[str], typer.Option("--overlay", metavar="FILE", help="A partial blueprint laid over it; repeatable.")
]
Sets = Annotated[
    list[str],
    typer.Option("--set", metavar="PATH=VALUE", help="A value below spec, as pools.gpu.count=100; repeatable."),
]
Catalogs = Annotated[
    list[str],
    typer.Option("--catalog", metavar="DIR", help="A folder of more catalogue entries; repeatable, later wins."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit 1 on warnings too.")]
Formats = Annotated[Format, typer.Option("--format", help="How problems are written; github: as annotations.")]


def catalogue(folders: Sequence[str]) -> Catalog:
    """The built-in catalogue with the user's folders."""
    from kwokgen.catalog import Catalog

    return Catalog.of(folders)


def rendered(blueprint: str, overlays: Sequence[str], sets: Sequence[str], catalogs: Sequence[str]) -> Rendered:
    """A blueprint with its variants, rendered.

    Raises KwokgenError with every problem.
    """
    from kwokgen.pipeline import render

    return render(blueprint, overlays=overlays, sets=sets, catalog=catalogue(catalogs))
