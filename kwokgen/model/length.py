"""Lengths of time that are drawn, each from the seed and a name: run times of jobs, and what lies between their arrivals."""

from __future__ import annotations

from decimal import Decimal
from statistics import NormalDist
from typing import Literal, NamedTuple

from kwokgen.draw import between, draw

MOST_SECONDS = 9_999_999
"""The latest that a job comes, 115 days: the files of waves are named by their second, in the order of their names."""


class Length(NamedTuple):
    """What a length is drawn from: a `range` of two bounds, an `exponential` mean, a `lognormal` median, `one` of several.

    With `each` nothing is drawn: every index has its own. All in milliseconds; `sigma` is the deviation of a lognormal's logarithm.
    """

    sort: Literal["range", "exponential", "lognormal", "one", "each"]
    values: tuple[int, ...]
    sigma: Decimal = Decimal(0)

    @property
    def shortest(self) -> int:
        """The least that can be drawn."""
        return 1 if self.sort in {"exponential", "lognormal"} else min(self.values)

    @property
    def longest(self) -> Decimal:
        """More than can be drawn, or as much: 2^64 draws end at 45 times a mean, and at 9 deviations."""
        if self.sort == "exponential":
            return Decimal(46 * self.values[0])
        if self.sort == "lognormal":
            return self.values[0] * (10 * self.sigma).exp()
        return Decimal(max(self.values))

    @property
    def mean(self) -> Decimal:
        """What is drawn in the mean."""
        if self.sort == "exponential":
            return Decimal(self.values[0])
        if self.sort == "lognormal":
            return self.values[0] * (self.sigma**2 / 2).exp()
        return Decimal(sum(self.values)) / len(self.values)

    def drawn(self, seed: int, what: str, owner: str, index: int) -> int:
        """The length of one of its owner's."""
        if self.sort == "each":
            return self.values[index]
        name = f"{owner}-{index}"
        if self.sort == "range":
            return between(seed, what, name, *self.values)
        number = draw(seed, what, name)
        if self.sort == "one":
            return self.values[number % len(self.values)]
        return max(1, round(self.values[0] * self._factor(number)))

    def _factor(self, number: int) -> Decimal:
        """Of the mean or the median: decimals give the same on every machine, whose floats may differ in the last digit."""
        share = Decimal(2 * number + 1) / 2**65
        if self.sort == "exponential":
            return -(1 - share).ln()
        return (self.sigma * Decimal(f"{NormalDist().inv_cdf(float(share)):.9f}")).exp()


class Arrival(NamedTuple):
    """When the jobs of a workload come: the first at `start`, in milliseconds, each next so long after the one before."""

    start: int
    every: Length

    def latest(self, count: int) -> Decimal:
        """Milliseconds since the start, before which the last of so many has come."""
        return self.start + self.every.longest * (count - 1)

    def moments(self, seed: int, name: str, count: int) -> list[int]:
        """Milliseconds since the start, of each job."""
        done = [self.start]
        for index in range(1, count):
            done.append(done[-1] + self.every.drawn(seed, "arrival", name, index))
        return done
