"""kwokgen diff: what a render would change in a bundle's folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwokgen.cli.options import Blueprint, Catalogs, Format, Overlays, Sets, Strict

if TYPE_CHECKING:
    from kwokgen.diff import Change

Folder = Annotated[str, typer.Argument(metavar="DIR", help="A bundle's folder.")]
Formats = Annotated[
    Format, typer.Option("--format", help="How changes and problems are written; github: as annotations.")
]
SIGNS = {"add": "+", "remove": "-", "change": "~"}


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(diff)


def diff(
    blueprint: Blueprint,
    folder: Folder,
    overlay: Overlays = [],
    set_: Sets = [],
    catalog: Catalogs = [],
    strict: Strict = False,
    format_: Formats = Format.text,
) -> None:
    """Show what a render would change in a bundle's folder, by object; exit 1 if anything."""
    from kwokgen.cli import WRONG
    from kwokgen.cli.options import rendered
    from kwokgen.cli.report import reporting
    from kwokgen.diff import changes, ordered
    from kwokgen.ownership import owned

    if not folder:
        raise typer.BadParameter("names no folder: the current one is .", param_hint="DIR")
    with reporting(format_, strict=strict) as warn:
        done = rendered(blueprint, overlay, set_, catalog)
        warn(done.warnings)
        bundle = done.bundle()
        old = {path: file.read_bytes for path, file in owned(bundle, Path(folder)).items()}
        found = ordered(changes(bundle, old))
    _show(found, format_)
    if found:
        raise typer.Exit(WRONG)


def _show(found: list[Change], form: Format) -> None:
    from kwokgen.cli.report import command, dumped, visible

    if form is Format.json:
        typer.echo(dumped([_data(change) for change in found]))
    elif form is Format.github:
        lines = (command("notice", {"title": "kwokgen diff"}, _headline(change, " (recreate)")) for change in found)
        sys.stdout.writelines(f"{line}\n" for line in lines)
    elif found:
        sys.stdout.writelines(f"{visible(line)}\n" for change in found for line in _lines(change))
        typer.echo(_counts(found))


def _counts(found: list[Change]) -> str:
    counts = {action: sum(change.action == action for change in found) for action in SIGNS}
    again = sum(change.recreate for change in found)
    words = f"{counts['add']} to add, {counts['remove']} to remove, {counts['change']} to change"
    return words + (f" ({again} of them to recreate)" if again else "")


def _headline(change: Change, recreate: str) -> str:
    name = f"{change.kind} {change.namespace + '/' if change.namespace else ''}{change.name}"
    return f"{SIGNS[change.action]} {name}{recreate if change.recreate else ''}"


def _lines(change: Change) -> Iterator[str]:
    yield _headline(change, " (recreate: an update cannot change this)")
    for field in change.fields:
        yield f"    {field.path}: {_value(field.old)} → {_value(field.new)}"


def _value(value: object) -> str:
    if value is None:
        return "(none)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:119]}…"


def _data(change: Change) -> dict[str, object]:
    return {
        "action": change.action,
        "kind": change.kind,
        "namespace": change.namespace,
        "name": change.name,
        "recreate": change.recreate,
        "fields": [{"path": field.path, "old": field.old, "new": field.new} for field in change.fields],
    }
