"""kwokgen plan: what a render would make, in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from kwokgen.cli.options import Blueprint, Catalogs, Format, Formats, Overlays, Sets, Strict

if TYPE_CHECKING:
    from kwokgen.plan import Plan


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(plan)


def plan(
    blueprint: Blueprint,
    overlay: Overlays = [],
    set_: Sets = [],
    catalog: Catalogs = [],
    strict: Strict = False,
    format_: Formats = Format.text,
) -> None:
    """Show what a render would make, and what the cluster must have."""
    from kwokgen.cli.options import rendered
    from kwokgen.cli.report import dumped, reporting, visible
    from kwokgen.plan import plan as planned

    with reporting(format_, strict=strict) as warn:
        done = rendered(blueprint, overlay, set_, catalog)
        warn(done.warnings)
        figures = planned(done)
    if format_ is Format.json:
        typer.echo(dumped(figures._asdict() | {"requirements": figures.requirements._asdict()}))
        return
    rows = list(_rows(figures))
    wide = max(len(name) for name, _ in rows)
    for name, value in rows:
        typer.echo(visible(f"{name:<{wide}}  {value}"))


def _rows(figures: Plan) -> Iterator[tuple[str, str]]:
    yield "blueprint", f"{figures.name}, for Kubernetes {figures.kubernetes}"
    yield "nodes", f"{figures.nodes:,}"
    yield "GPUs", f"{figures.gpus:,}"
    for kind, number in figures.objects.items():
        yield f"  {kind}", f"{number:,}"
    yield "stream", f"{figures.bytes / 1e6:,.1f} MB in {figures.files} files"
    yield "controllers", f"{figures.controllers}"
    yield "lease renewals", f"{figures.lease_writes:g} a second"
    yield "apply", f"about {_duration(figures.apply_seconds)} in one stream"
    needed = figures.requirements
    for gate in needed.gates:
        yield "must have", f"feature gate {gate}=true on the API server, controller manager and scheduler"
    for entry in needed.runtime_config:
        yield "must have", f"runtime-config {entry} on the API server"
    for other in needed.others:
        yield "must have", other


def _duration(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
