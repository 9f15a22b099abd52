"""Ranges of indexes, both ends included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Ranges = tuple[tuple[int, int], ...]


def holds(ranges: Ranges, index: int) -> bool:
    """Whether an index is in one of them."""
    return any(first <= index <= last for first, last in ranges)


def stretches(count: int, several: Iterable[Ranges]) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """The indexes below `count` in ranges that none of several begins or ends within, and the numbers of those that hold them."""
    turns: dict[int, list[tuple[int, int]]] = {0: []}
    depth: list[int] = []
    for number, ranges in enumerate(several):
        depth.append(0)
        for first, last in ranges:
            turns.setdefault(first, []).append((number, 1))
            turns.setdefault(last + 1, []).append((number, -1))
    starts = sorted(turn for turn in turns if turn < count)
    for first, after in zip(starts, [*starts[1:], count], strict=True):
        for number, step in turns[first]:
            depth[number] += step
        yield first, after - 1, tuple(number for number, ranges in enumerate(depth) if ranges)
