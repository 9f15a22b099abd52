"""Ranges of indexes, both ends included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Ranges = tuple[tuple[int, int], ...]


def holds(ranges: Ranges, index: int) -> bool:
    """Whether an index is in one of them."""
    return any(first <= index <= last for first, last in ranges)


def stretches(count: int, several: Iterable[Ranges]) -> Iterator[tuple[int, int]]:
    """The indexes below `count` in ranges that none of several begins or ends within."""
    edges = {edge for ranges in several for first, last in ranges for edge in (first, last + 1)}
    starts = sorted({0, *edges} - {count})
    for first, after in zip(starts, [*starts[1:], count], strict=True):
        yield first, after - 1
