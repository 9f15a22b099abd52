"""What is claimed about kwokgen's speed, each held against what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bench.race import Race
from bench.startup import NOTHING

MIB = 1024 * 1024
SMALL, LARGE = 10_000, 100_000
STARTS = {"kwokgen --help": 8, "kwokgen validate": 20, "kwokgen render": 25}


class Claim(NamedTuple):
    """A measured value that must not be above a limit; `aim` is what we would like it to be."""

    text: str
    value: float
    limit: float
    unit: str = "×"
    aim: float | None = None

    @property
    def holds(self) -> bool:
        """Whether it does."""
        return self.value <= self.limit

    @property
    def verdict(self) -> str:
        """The word for it."""
        return "PASS" if self.holds else "FAIL"

    def shown(self, value: float | None) -> str:
        """A value with the claim's unit."""
        return "" if value is None else f"{value:.3g} {self.unit}"


def claims(raced: Race, started: Mapping[str, float]) -> list[Claim]:
    """Those for which enough was measured: a quick race is not run at the largest size."""
    made = [*_starts(started)]
    if SMALL in raced.sizes:
        made += _small(raced)
    if {SMALL, LARGE} <= raced.sizes.keys():
        made += _large(raced)
    return made


def _starts(started: Mapping[str, float]) -> Iterator[Claim]:
    for name, limit in STARTS.items():
        yield Claim(f"`{name}` beside `{NOTHING}`", started[name] / started[NOTHING], limit)


def _small(raced: Race) -> Iterator[Claim]:
    share = raced.seconds(SMALL, "kwokgen") / raced.seconds(SMALL, "helm")
    yield Claim(f"{SMALL:,} nodes: share of the time of `helm template`", share * 100, 5, "%")
    yield _peak(raced, SMALL)


def _large(raced: Race) -> Iterator[Claim]:
    yield _peak(raced, LARGE)
    low, high = sorted(raced.results[nodes, "kwokgen"].peak for nodes in (SMALL, LARGE))
    yield Claim("peak memory: the larger of both above the smaller", (high / low - 1) * 100, 10, "%")
    slope, least = (raced.slope(name, SMALL, LARGE) for name in ("kwokgen", "cat"))
    yield Claim(f"one node more, {SMALL:,} to {LARGE:,}, beside `cat`", slope / least, 4, aim=2)
    floor = raced.seconds(LARGE, "kwokgen") / raced.seconds(LARGE, "limit")
    yield Claim(f"{LARGE:,} nodes beside `limit.py`", floor, 3, aim=1.5)


def _peak(raced: Race, nodes: int) -> Claim:
    return Claim(f"{nodes:,} nodes: peak memory", raced.results[nodes, "kwokgen"].peak / MIB, 64, "MiB")
