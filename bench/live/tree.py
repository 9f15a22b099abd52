"""A hundred thousand nodes in a tree of four levels, with a thousand jobs of a trace: rendered, nothing is applied.

The slope is what one node more takes, from 10,000 to 100,000 nodes, beside `cat` of the same bytes; the least of twenty
runs each. The memory is the highest of a render.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench.live.cluster import blueprint
from bench.live.slope import slope_of
from bench.measure import run

SIZES = (10_000, 100_000)
JOBS = 1_000
GPUS = (1, 1, 1, 2, 4, 8, 8, 16, 32, 64)
SPEC = """
topology:
  schemes: [topograph, {{keys: {{zone: topology.kubernetes.io/zone, leaf: example.com/rack}}}}]
  levels: [{{name: zone, count: 5}}, {{name: block, count: 5}}, {{name: spine, count: 25}}, {{name: leaf, count: 10, nodes: 16}}]
pools: [{{name: h100, count: {nodes}, machine: p5.48xlarge, place: {{pack: leaf}}}}]
deviceClasses: [{{name: gpu.nvidia.com, extendedResourceName: nvidia.com/gpu}}]
workloads: [{{name: replay, kind: job, trace: [{trace}]}}]
"""


def spec(nodes: int) -> str:
    """So many nodes of the 100,000 places, and the jobs."""
    rows = (f"{{arrival: {index * 3.5}, duration: {60 + index}, gpus: {GPUS[index % 10]}}}" for index in range(JOBS))
    return SPEC.format(nodes=nodes, trace=", ".join(rows))


def table() -> list[list[str]]:
    """Rows of what was asked for, and of what was seen."""
    few, many = (memory(nodes) for nodes in SIZES)
    return [
        ["", "at most", "seen"],
        ["one node more to render, beside `cat`", "4 ×", f"{slope_of(spec, SIZES):.2f} ×"],
        [
            f"memory of {SIZES[1]:,} nodes beside {SIZES[0]:,}",
            "1.2 ×",
            f"{many / few:.2f} × ({many / 1024**2:.0f} MiB)",
        ],
    ]


def memory(nodes: int) -> float:
    """The highest of a render, in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(blueprint("tree", spec(nodes), Path(folder)))
        return run([sys.executable, "-m", "kwokgen", "render", file]).peak
