"""What one node more takes to render, beside `cat` of the same bytes."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench.live.cluster import blueprint
from bench.measure import calm, run

RUNS = 20
"""The least of as many: a virtual machine may run half as fast for a second. The sizes take turns."""


def slope_of(spec: Callable[[int], str], sizes: tuple[int, int]) -> float:
    """How many times as long as `cat` one node more takes, between two numbers of nodes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = [_command(spec(nodes), folder / str(nodes)) for nodes in sizes]
        renders, cats = zip(*(_turn(commands, folder) for _ in range(RUNS)), strict=True)
    return _growth(renders) / _growth(cats)


def _command(spec: str, folder: Path) -> list[str]:
    folder.mkdir()
    return [sys.executable, "-m", "kwokgen", "render", str(blueprint("slope", spec, folder))]


def _turn(commands: Sequence[list[str]], folder: Path) -> tuple[list[float], list[float]]:
    """Seconds of each render, and of a copy of what it writes."""
    stream, copy = folder / "stream", folder / "copy"
    both = [((command, stream), (["cat", str(stream)], copy)) for command in commands]
    renders, cats = zip(*([calm(partial(run, *each)).seconds for each in pair] for pair in both), strict=True)
    return list(renders), list(cats)


def _growth(turns: Sequence[Sequence[float]]) -> float:
    small, large = (min(each) for each in zip(*turns, strict=True))
    return large - small
