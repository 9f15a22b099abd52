"""What one node more takes to render, beside `cat` of the same bytes."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.live.cluster import blueprint
from bench.measure import calm, run


def slope_of(spec: Callable[[int], str], sizes: tuple[int, int]) -> float:
    """How many times as long as `cat` one node more takes, between two numbers of nodes; the least of three runs each."""
    with tempfile.TemporaryDirectory() as folder:
        (small, small_cat), (large, large_cat) = (_seconds(spec(nodes), Path(folder)) for nodes in sizes)
    return (large - small) / (large_cat - small_cat)


def _seconds(spec: str, folder: Path) -> tuple[float, float]:
    stream, file = folder / "stream", str(blueprint("slope", spec, folder))
    render = min(
        calm(partial(run, [sys.executable, "-m", "kwokgen", "render", file], stream)).seconds for _ in range(3)
    )
    cat = min(calm(partial(run, ["cat", str(stream)], folder / "copy")).seconds for _ in range(3))
    return render, cat
