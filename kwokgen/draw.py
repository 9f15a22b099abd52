"""Draws: integers that follow from the seed, what is drawn, and a name; the same on every machine."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from heapq import nsmallest


def draw(seed: int, what: str, name: str) -> int:
    """An integer below 2^64."""
    return int.from_bytes(blake2b(f"{seed}/{what}/{name}".encode(), digest_size=8).digest())


def between(seed: int, what: str, name: str, shortest: int, longest: int) -> int:
    """An integer from `shortest` to `longest`, both included."""
    return shortest + draw(seed, what, name) % (longest - shortest + 1)


def lowest(seed: int, what: str, names: Iterable[str], number: int) -> list[int]:
    """The places of the `number` names that draw the lowest, in order: another name moves one of them at most."""
    drawn = ((draw(seed, what, name), place) for place, name in enumerate(names)) if number else ()
    return sorted(place for _, place in nsmallest(number, drawn))
