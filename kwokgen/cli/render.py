"""kwokgen render: the bundle, as a stream on stdout or as a folder."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwokgen.cli.options import Blueprints, Catalogs, Format, Formats, Overlays, Sets, Strict

if TYPE_CHECKING:
    from kwokgen.bundle import Bundle


class Only(StrEnum):
    """A part of the stream."""

    crds = "crds"


Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="DIR", help="The bundle's folder; with several blueprints DIR/<name> each."),
]
OnlyOption = Annotated[
    Only | None, typer.Option("--only", help="crds: just the definitions that must be there before the rest.")
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(render)


def render(
    blueprints: Blueprints,
    output: Output = None,
    only: OnlyOption = None,
    overlay: Overlays = [],  # noqa: B006 - typer copies it
    set_: Sets = [],  # noqa: B006
    catalog: Catalogs = [],  # noqa: B006
    strict: Strict = False,  # noqa: FBT002
    format_: Formats = Format.text,
) -> None:
    """Write the Kubernetes YAML of blueprints to stdout, or into folders with -o."""
    from kwokgen.cli.report import reporting

    if only and output:
        raise typer.BadParameter("goes to stdout: leave out -o", param_hint="--only")  # noqa: EM101 - typer's own way
    with reporting(format_, strict=strict) as warn:
        bundles = _bundles(blueprints, overlay, set_, catalog, only, warn)
        if output is None:
            _stream(bundles)
        else:
            _folders(bundles, Path(output), several=len(blueprints) > 1)


def _bundles(blueprints, overlays, sets, catalogs, only, warn) -> list[Bundle]:  # type: ignore[no-untyped-def] # noqa: ANN001
    from kwokgen.cli.options import rendered
    from kwokgen.problem import KwokgenError, Problem

    done, problems, warnings = [], [], []  # type: ignore[var-annotated]
    for blueprint in blueprints:
        try:
            one = rendered(blueprint, overlays, sets, catalogs)
            warnings += one.warnings
            done.append((one.cluster, one.bundle(only)))
        except KwokgenError as error:
            problems += error.problems
    names: dict[str, Problem] = {}
    for cluster, _ in done:
        pos = cluster.at.pos("metadata", "name")
        if cluster.name in names:
            problems.append(Problem(pos, "duplicate-name", f'two blueprints are named "{cluster.name}"'))
        names[cluster.name] = problems[-1] if problems else None  # type: ignore[assignment]
    if problems:
        raise KwokgenError(*problems)
    warn(warnings)
    return [bundle for _, bundle in done]


def _stream(bundles: list[Bundle]) -> None:
    from kwokgen.sink import to_stream

    for bundle in bundles:
        to_stream(bundle.stream(), sys.stdout.buffer)


def _folders(bundles: list[Bundle], folder: Path, *, several: bool) -> None:
    from kwokgen.sink import to_folder

    for bundle in bundles:
        target = folder / bundle.name if several else folder
        done = to_folder(bundle, target)
        parts = [f"{len(done.changed)} written", f"{len(done.removed)} removed", f"{done.unchanged} unchanged"]
        typer.echo(f"{target}: {', '.join(parts)}", err=True)
