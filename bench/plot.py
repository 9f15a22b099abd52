"""results.svg: time and peak memory by number of nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from bench.claims import MIB
from bench.race import RUNNERS, Race, Result

COLOURS = {
    "cat": "#888888",
    "kwokgen": "#d62728",
    "limit": "#1f77b4",
    "go": "#17becf",
    "jinja": "#2ca02c",
    "helm": "#9467bd",
    "bash": "#8c564b",
}
# Texts stay texts, and names in the file do not change from one plot to the next.
STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "kwokgen", "font.size": 9}
PLAIN = str.maketrans("", "", "*`")
"""Titles are Markdown."""


def plot(raced: Race, target: Path) -> None:
    """Writes the file; all axes are logarithmic, so that a straight line is a power."""
    with mpl.rc_context():
        mpl.rcParams.update(STYLE)
        figure = Figure(figsize=(9, 4.4), layout="constrained")
        time, memory = figure.subplots(1, 2)
        _lines(time, raced, lambda result: result.seconds)
        _lines(memory, raced, lambda result: max(result.peak, raced.floor) / MIB)
        _scales(time, "seconds", 10)
        _scales(memory, "MiB of memory at most", 2)
        figure.legend(*time.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
        figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None})


def _lines(axes: Axes, raced: Race, value: Callable[[Result], float]) -> None:
    for name, runner in RUNNERS.items():
        some = [(nodes, value(result)) for (nodes, other), result in raced.results.items() if other == name]
        ours = name == "kwokgen"
        label, width, above = runner.title.translate(PLAIN), 2.5 if ours else 1.2, 3 if ours else 2
        axes.plot(*zip(*some, strict=True), "o-", label=label, color=COLOURS[name], lw=width, ms=4, zorder=above)


def _scales(axes: Axes, label: str, base: int) -> None:
    axes.set(xlabel="nodes of 8 devices", ylabel=label)
    axes.set_xscale("log")
    axes.set_yscale("log", base=base)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(alpha=0.3)
