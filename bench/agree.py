"""The check before the race: every way writes what kwokgen writes, byte for byte, and helm the same objects."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from bench.measure import run
from bench.reference import Reference, reference
from bench.ways import WAYS, Way

SIZES = (1_000, 10_000)
"""One file a kind, and several."""
PARSED = 1_000
"""More would take minutes to parse."""


class DisagreeError(Exception):
    """A way writes something else than kwokgen."""


def agree(names: Sequence[str]) -> None:
    """Raises DisagreeError for the first way that differs."""
    with tempfile.TemporaryDirectory() as work:
        for nodes in SIZES:
            made = reference(nodes, Path(work))
            for name in names:
                if WAYS[name].same or nodes <= PARSED:
                    _compare(name, WAYS[name], made, Path(work) / f"{nodes}-{name}")


def _compare(name: str, way: Way, made: Reference, target: Path) -> None:
    run(way.command(made, target), None if way.folder else target)
    if not way.same:
        _differ(name, made, _objects(made.manifests), _objects([target]))
    elif way.folder:
        _differ(name, made, _files(made.folder), _files(target))
    else:
        _differ(name, made, dict(_lines(made.manifests)), dict(_lines([target])))


def _differ(name: str, made: Reference, expected: dict[Any, Any], actual: dict[Any, Any]) -> None:
    for key in sorted(expected.keys() | actual.keys()):
        if expected.get(key) != actual.get(key):
            raise DisagreeError(f"{name} at {made.nodes} nodes: {key}: {actual.get(key)!r:.200}")
    print(f"{name} at {made.nodes:,} nodes: agrees")


def _files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def _lines(files: Sequence[Path]) -> Iterator[tuple[int, bytes]]:
    return enumerate(b"".join(file.read_bytes() for file in files).splitlines(keepends=True))


def _objects(files: Sequence[Path]) -> dict[tuple[str, ...], Any]:
    found: dict[tuple[str, ...], Any] = {}
    for file in files:
        with file.open("rb") as content:
            for one in filter(None, yaml.load_all(content, yaml.CSafeLoader)):
                meta = one["metadata"]
                key = (one["apiVersion"], one["kind"], meta.get("namespace", ""), meta["name"])
                if key in found:
                    raise DisagreeError(f"{file.name}: {key} is there twice")
                found[key] = one
    return found


if __name__ == "__main__":
    try:
        agree(sys.argv[1:] or list(WAYS))
    except DisagreeError as error:
        sys.exit(str(error))
