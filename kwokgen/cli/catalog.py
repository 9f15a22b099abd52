"""kwokgen catalog: what can be named in a blueprint, with facts and sources."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kwokgen.cli.options import Catalogs, Format, Listing

if TYPE_CHECKING:
    from kwokgen.catalog import Catalog


def _kinds() -> list[str]:
    from kwokgen.catalog import KINDS

    return sorted(KINDS)


def _listed() -> str:
    from kwokgen.catalog import KINDS

    return ", ".join(dict.fromkeys(kind.partition("/")[0] for kind in KINDS))


Kind = Annotated[str | None, typer.Argument(metavar="KIND", help=f"One of {_listed()}.", autocompletion=_kinds)]
Name = Annotated[str | None, typer.Argument(metavar="NAME", help="An entry, shown whole.")]
Formats = Annotated[Listing, typer.Option("--format", help="How entries and problems are written.")]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("catalog")(show)


def show(kind: Kind = None, name: Name = None, catalog: Catalogs = [], format_: Formats = Listing.text) -> None:
    """List what a blueprint can name, or show an entry with its facts and sources."""
    from kwokgen.cli.options import catalogue
    from kwokgen.cli.report import reporting

    with reporting(Format(format_), strict=False):
        facts = catalogue(catalog)
        kinds = _matching(kind)
        if name is None:
            _list(facts, kinds, form=format_)
        else:
            _entry(facts, kinds, name, form=format_)


def _matching(kind: str | None) -> list[str]:
    """`stages` stands for `stages/node` and `stages/pod`, `steps` for those of either."""
    from kwokgen.problem import KwokgenError, Pos, unknown

    found = [known for known in _kinds() if kind is None or known == kind or known.startswith(f"{kind}/")]
    if not found:
        raise KwokgenError(unknown(Pos("kwokgen catalog"), "kind", str(kind), _kinds(), code="catalog"))
    return found


def _list(facts: Catalog, kinds: list[str], *, form: Listing) -> None:
    from kwokgen.cli.report import dumped, visible
    from kwokgen.problem import Pos

    rows = [
        {"kind": kind, "name": name, "summary": facts.get(kind, name, Pos("kwokgen catalog"), kind).data["summary"]}
        for kind in kinds
        for name in facts.names(kind)
    ]
    if form is Listing.json:
        typer.echo(dumped(rows))
        return
    wide = max((len(row["name"]) for row in rows), default=0)
    for kind in dict.fromkeys(row["kind"] for row in rows):
        typer.echo(f"{kind}:")
        for row in rows:
            if row["kind"] == kind:
                typer.echo(visible(f"  {row['name']:<{wide}}  {row['summary']}"))


def _entry(facts: Catalog, kinds: list[str], name: str, *, form: Listing) -> None:
    from kwokgen import emit
    from kwokgen.cli.report import dumped, visible
    from kwokgen.problem import KwokgenError, Pos, unknown

    pos = Pos("kwokgen catalog")
    holding = [kind for kind in kinds if name in facts.names(kind)]
    if not holding:
        names = sorted({known for kind in kinds for known in facts.names(kind)})
        raise KwokgenError(unknown(pos, "entry", name, names, code="catalog"))
    for kind in holding:
        fact = facts.get(kind, name, pos, kind)
        if form is Listing.json:
            typer.echo(dumped({"kind": kind, "name": name, "file": fact.file, "entry": dict(fact.data)}))
        else:
            sys.stdout.write(f"# {visible(fact.file)}\n{emit.dump(dict(fact.data)).removeprefix('---' + chr(10))}")
