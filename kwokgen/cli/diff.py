"""kwokgen diff: what a render would change in a bundle's folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwokgen.cli.options import Blueprint, Catalogs, Format, Formats, Overlays, Sets, Strict

if TYPE_CHECKING:
    from kwokgen.diff import Change

Folder = Annotated[str, typer.Argument(metavar="DIR", help="A bundle's folder.")]
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
    if form is Format.json:
        typer.echo(json.dumps([_data(change) for change in found], indent=2, ensure_ascii=False))
        return
    for change in found:
        sys.stdout.write(_text(change) if form is Format.text else _github(change))
    if found and form is Format.text:
        counts = {action: sum(change.action == action for change in found) for action in SIGNS}
        again = sum(change.recreate for change in found)
        words = f"{counts['add']} to add, {counts['remove']} to remove, {counts['change']} to change"
        typer.echo(words + (f" ({again} of them to recreate)" if again else ""))


def _name(change: Change) -> str:
    return f"{change.kind} {change.namespace + '/' if change.namespace else ''}{change.name}"


def _text(change: Change) -> str:
    recreate = " (recreate: an update cannot change this)" if change.recreate else ""
    lines = [f"{SIGNS[change.action]} {_name(change)}{recreate}"]
    lines += [f"    {field.path}: {_value(field.old)} → {_value(field.new)}" for field in change.fields]
    return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    if value is None:
        return "(none)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:119]}…"


def _github(change: Change) -> str:
    recreate = " (recreate)" if change.recreate else ""
    return f"::notice title=kwokgen diff::{SIGNS[change.action]} {_name(change)}{recreate}\n"


def _data(change: Change) -> dict[str, object]:
    return {
        "action": change.action,
        "kind": change.kind,
        "namespace": change.namespace,
        "name": change.name,
        "recreate": change.recreate,
        "fields": [{"path": field.path, "old": field.old, "new": field.new} for field in change.fields],
    }
