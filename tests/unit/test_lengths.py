"""Lengths of time that are drawn: as they are said to be distributed, and the same everywhere."""

from decimal import Decimal
from math import log
from statistics import fmean, median, stdev

import pytest

from kwokgen.model.length import Arrival, Length

MANY = 4_000


def sample(length: Length) -> list[int]:
    return [length.drawn(7, "run", "job", index) for index in range(MANY)]


def test_exponential_lengths_have_their_mean() -> None:
    """And their deviation, which is the mean as well."""
    found = sample(Length("exponential", (60_000,)))
    assert fmean(found) == pytest.approx(60_000, rel=0.05)
    assert stdev(found) == pytest.approx(60_000, rel=0.1)
    assert min(found) >= 1


def test_lognormal_lengths_have_their_median_and_sigma() -> None:
    length = Length("lognormal", (60_000,), Decimal("1.5"))
    found = sample(length)
    assert median(found) == pytest.approx(60_000, rel=0.1)
    assert stdev(map(log, found)) == pytest.approx(1.5, rel=0.05)
    assert float(length.mean) == pytest.approx(60_000 * 3.0802, rel=0.001)


def test_one_of_several_comes_as_often_as_it_is_there() -> None:
    found = sample(Length("one", (1, 1, 1, 5)))
    assert found.count(1) / MANY == pytest.approx(0.75, abs=0.03)
    assert {*found} == {1, 5}


def test_ranges_reach_both_bounds() -> None:
    assert {*sample(Length("range", (5, 8)))} == {5, 6, 7, 8}


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (Length("range", (5_000, 9_000)), [7254, 5340]),
        (Length("exponential", (60_000,)), [87372, 64845]),
        (Length("lognormal", (60_000,), Decimal(1)), [124332, 90796]),
    ],
    ids=lambda value: value.sort if isinstance(value, Length) else "",
)
def test_what_is_drawn_stays(length: Length, expected: list[int]) -> None:
    """Another release that draws otherwise would change every bundle."""
    assert [length.drawn(1, "run", "a", index) for index in (0, 1)] == expected


def test_arrivals_follow_each_other() -> None:
    """More jobs leave those before where they are."""
    arrival = Arrival(2_000, Length("exponential", (10_000,)))
    many, few = arrival.moments(3, "w", 50), arrival.moments(3, "w", 20)
    assert many[:20] == few
    assert many[0] == 2_000
    assert many == sorted(many)
    assert Arrival(0, Length("range", (100, 100))).moments(3, "w", 4) == [0, 100, 200, 300]


@pytest.mark.parametrize("length", [Length("exponential", (60_000,)), Length("lognormal", (60_000,), Decimal("1.5"))])
def test_nothing_that_is_drawn_is_longer_than_the_longest(length: Length) -> None:
    """Of all draws the last but those that no float can tell from one."""
    assert max(sample(length)) < length.values[0] * length._factor(2**64 - 2**12) <= length.longest
