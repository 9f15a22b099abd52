"""Every way at every size, in rounds: what disturbs the machine for a while disturbs all of them."""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench.measure import Run, calm, floor, median, remove, run
from bench.reference import Reference, reference
from bench.ways import CAT, WAYS, Way
from testbed.programs import cache_root

ROUNDS = 5
RUNNERS = CAT | WAYS
Cell = tuple[int, str]
"""A number of nodes, and the name of a way."""


class Result(NamedTuple):
    """A cell's runs: the median of their seconds, the highest of their peaks in bytes, how many were disturbed."""

    seconds: float
    peak: int
    disturbed: int


class Race(NamedTuple):
    """What was measured. `sizes` are the bytes of the stream for a number of nodes; a peak up to `floor` is unknown."""

    sizes: dict[int, int]
    results: dict[Cell, Result]
    floor: int

    def seconds(self, nodes: int, name: str) -> float:
        """The median of a way."""
        return self.results[nodes, name].seconds

    def slope(self, name: str, small: int, large: int) -> float:
        """Seconds that one more node takes, between two sizes."""
        return (self.seconds(large, name) - self.seconds(small, name)) / (large - small)


def race(sizes: Sequence[int]) -> Race:
    """Measures all of it, on the disk that the cache is on: the folder for temporary files may be memory."""
    cache_root().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_root()) as work:
        made = {nodes: reference(nodes, Path(work)) for nodes in sizes}
        _warm(made[min(sizes)], Path(work))
        runs: defaultdict[Cell, list[Run]] = defaultdict(list)
        for number in range(ROUNDS):
            print(f"round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
            for nodes, name in _cells(sizes):
                runs[nodes, name].append(calm(partial(_once, made[nodes], name, Path(work))))
        results = {cell: _result(some) for cell, some in runs.items()}
        return Race({nodes: one.size for nodes, one in made.items()}, results, floor())


def _cells(sizes: Sequence[int]) -> Iterator[Cell]:
    return ((nodes, name) for nodes in sizes for name, way in RUNNERS.items() if nodes <= (way.most or nodes))


def _warm(made: Reference, work: Path) -> None:
    """Programs and modules come from the disk once; the references are there, so kwokgen is warm at all sizes."""
    for name in RUNNERS:
        _once(made, name, work)


def _once(made: Reference, name: str, work: Path) -> Run:
    """One run into a path that is new, and gone afterwards."""
    way: Way = RUNNERS[name]
    target = work / "written"
    try:
        return run(way.command(made, target), None if way.folder else target)
    finally:
        remove(target)


def _result(runs: Sequence[Run]) -> Result:
    disturbed = sum(one.disturbed for one in runs)
    return Result(median([one.seconds for one in runs]), max(one.peak for one in runs), disturbed)
