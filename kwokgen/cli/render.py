"""kwokgen render: the bundle, as a stream on stdout or as a folder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwokgen.cli.options import Blueprints, Catalogs, Format, Formats, Overlays, Sets, Strict

if TYPE_CHECKING:
    from kwokgen.bundle import Bundle
    from kwokgen.pipeline import Rendered


class Only(StrEnum):
    """A part of the stream."""

    crds = "crds"


Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="DIR", help="The bundle's folder; with several blueprints DIR/<name> each."),
]
OnlyOption = Annotated[
    Only | None,
    typer.Option(
        "--only", help="Write a part to stdout only; crds: the CustomResourceDefinitions, to apply and await first."
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(render)


def render(
    blueprints: Blueprints,
    output: Output = None,
    only: OnlyOption = None,
    overlay: Overlays = [],
    set_: Sets = [],
    catalog: Catalogs = [],
    strict: Strict = False,
    format_: Formats = Format.text,
) -> None:
    """Write the Kubernetes YAML of blueprints to stdout, or into folders with -o."""
    from kwokgen.cli.report import reporting

    if output == "":
        raise typer.BadParameter("names no folder: the current one is .", param_hint="-o")
    if only and output:
        raise typer.BadParameter("goes to stdout: leave out -o", param_hint="--only")
    with reporting(format_, strict=strict) as warn:
        rendered = _rendered(blueprints, overlay, set_, catalog)
        if output is None and not only:
            _distinct(rendered)
        warn([warning for one in rendered for warning in one.warnings])
        bundles = [one.bundle(only) for one in rendered]
        if output is None:
            _stream(bundles)
        else:
            _folders(bundles, Path(output))


def _rendered(
    blueprints: Sequence[str], overlays: Sequence[str], sets: Sequence[str], catalogs: Sequence[str]
) -> list[Rendered]:
    """Every blueprint, or the problems of all of them."""
    from kwokgen.cli.options import rendered
    from kwokgen.problem import KwokgenError, Problem

    done: dict[str, Rendered] = {}
    problems: list[Problem] = []
    for blueprint in blueprints:
        try:
            one = rendered(blueprint, overlays, sets, catalogs)
        except KwokgenError as error:
            problems += error.problems
            continue
        name = one.cluster.name
        if name in done:
            message = f'two blueprints are named "{name}"'
            problems.append(Problem(one.cluster.at.pos("metadata", "name"), "duplicate-name", message))
        done[name] = one
    if problems:
        raise KwokgenError(*problems)
    return list(done.values())


def _distinct(rendered: Sequence[Rendered]) -> None:
    """Raises KwokgenError where a stream has an object twice; folders may go to different clusters."""
    from kwokgen.duplicates import between
    from kwokgen.problem import KwokgenError

    problems = tuple(between({one.cluster.name: one.series for one in rendered})) if len(rendered) > 1 else ()
    if problems:
        raise KwokgenError(*problems)


def _stream(bundles: Sequence[Bundle]) -> None:
    from kwokgen.cli.progress import watched
    from kwokgen.resources.workload import SCRIPT, WAVES

    for bundle in bundles:
        if not bundle.files:
            # Only a part of a bundle can be empty, and kubectl would say no more than that it got nothing.
            typer.echo(f"{bundle.name}: no CRD is needed, nothing is written", err=True)
        if waves := [file for file in bundle.files if file.path.startswith(WAVES) and file.path != SCRIPT]:
            typer.echo(f"{bundle.name}: the jobs of {len(waves)} waves are left out: a folder (-o) has them", err=True)
        shown, clear = watched(bundle)
        sys.stdout.buffer.writelines(shown.stream())
        sys.stdout.buffer.flush()
        clear()


def _folders(bundles: Sequence[Bundle], folder: Path) -> None:
    """With one blueprint the folder is the bundle; nothing is written before every folder was found fit."""
    from kwokgen.cli.progress import watched
    from kwokgen.ownership import refuse
    from kwokgen.sink import to_folder

    targets = {bundle.name: folder / bundle.name if len(bundles) > 1 else folder for bundle in bundles}
    for bundle in bundles:
        refuse(bundle, targets[bundle.name])
    for bundle in bundles:
        shown, clear = watched(bundle)
        done = to_folder(shown, targets[bundle.name])
        clear()
        parts = [f"{len(done.changed)} written", f"{len(done.removed)} removed", f"{done.unchanged} unchanged"]
        typer.echo(f"{targets[bundle.name]}: {', '.join(parts)}", err=True)
