"""kwokgen plan: what a render would make, in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from kwokgen.cli.options import Blueprint, Catalogs, Format, Overlays, Sets, Strict

if TYPE_CHECKING:
    from kwokgen.plan import Plan
    from kwokgen.timeline import Moment

Formats = Annotated[
    Format,
    typer.Option(
        "--format", help="How the plan and problems are written; github: problems as annotations, the plan as text."
    ),
]


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
        moments = [moment._asdict() | {"time": moment.time} for moment in figures.timeline]
        parts = {"requirements": figures.requirements._asdict(), "timeline": moments}
        parts |= {"arrivals": figures.arrivals._asdict()} if figures.arrivals else {}
        typer.echo(dumped(figures._asdict() | parts))
        return
    rows = list(_rows(figures))
    wide = max(len(name) for name, _ in rows)
    for name, value in rows:
        typer.echo(visible(f"{name:<{wide}}  {value}"))
    for line in _timeline(figures):
        typer.echo(visible(line))


def _rows(figures: Plan) -> Iterator[tuple[str, str]]:
    yield "blueprint", f"{figures.name}, for Kubernetes {figures.kubernetes}"
    yield "nodes", f"{figures.nodes:,}"
    yield "GPUs", f"{figures.gpus:,}"
    if figures.topology:
        yield "topology", ", ".join(f"{name} {number:,}" for name, number in figures.topology.items())
    for kind, number in figures.objects.items():
        yield f"  {kind}", f"{number:,}"
    yield "stream", f"{figures.bytes / 1e6:,.1f} MB in {figures.files} files"
    yield "controllers", f"{figures.controllers}"
    yield "lease renewals", f"{figures.lease_writes:g} a second"
    yield "apply", f"about {_duration(figures.apply_seconds)} in one stream"
    if coming := figures.arrivals:
        yield "arrivals", f"{coming.jobs:,} jobs in {coming.waves:,} waves, the last after {_duration(coming.last)}"
    needed = figures.requirements
    for gate in needed.gates:
        yield "must have", f"feature gate {gate}=true on the API server, controller manager and scheduler"
    for entry in needed.runtime_config:
        yield "must have", f"runtime-config {entry} on the API server"
    for other in needed.others:
        yield "must have", other


def _timeline(figures: Plan) -> Iterator[str]:
    if not figures.timeline:
        return
    yield ""
    smear = (
        f", about {_duration(figures.smear_seconds)} apart for the first and the last" if figures.smear_seconds else ""
    )
    yield f"timeline: T is each node's creation{smear}"
    wide = max(len(moment.time) for moment in figures.timeline)
    for moment in figures.timeline:
        yield f"  {moment.time:<{wide}}  {_who(moment)} {moment.fault} ({moment.entry}): {', '.join(moment.what)}{moment.again}"
        if moment.command:
            yield f"  {'':<{wide}}  {moment.command}"
    if any("Ready=False" in moment.what for moment in figures.timeline):
        took = f", {_duration(figures.eviction_seconds)} for all of these" if figures.eviction_seconds else ""
        yield f"  Pods leave NotReady nodes one node each 10 s, the controller manager's rate{took}; where 55 % of a zone"
        yield "  are NotReady, one node each 100 s, and none in a cluster of 50 nodes or fewer."


def _who(moment: Moment) -> str:
    names = ", ".join(moment.first)
    return names if moment.nodes <= len(moment.first) else f"{moment.nodes:,} nodes ({names}, …)"


def _duration(seconds: int) -> str:
    """Seconds in at most two units, rounded down; a timeline has durations as a blueprint has them instead."""
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86_400
    if seconds < 120:
        return f"{seconds} s"
    if minutes < 120:
        return f"{minutes} min"
    return _both(hours, "h", minutes % 60, "min") if hours < 48 else _both(days, "days", hours % 24, "h")


def _both(number: int, unit: str, rest: int, smaller: str) -> str:
    return f"{number:,} {unit}" + (f" {rest} {smaller}" if rest else "")
