"""Draws: integers that follow from the seed, what is drawn, and a name; the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b, shake_256
from heapq import nsmallest
from struct import unpack


def draw(seed: int, what: str, name: str) -> int:
    """An integer below 2^64."""
    return int.from_bytes(blake2b(f"{seed}/{what}/{name}".encode(), digest_size=8).digest())


def between(seed: int, what: str, name: str, shortest: int, longest: int) -> int:
    """An integer from `shortest` to `longest`, both included."""
    return shortest + draw(seed, what, name) % (longest - shortest + 1)


def draws(seed: int, what: str, number: int) -> tuple[int, ...]:
    """As many integers below 2^64, at the price of one: more of them begin with the same."""
    return unpack(f">{number}Q", shake_256(f"{seed}/{what}".encode()).digest(8 * number))


def lowest(drawn: Sequence[int], number: int) -> list[int]:
    """The places of the `number` lowest draws, in order: another draw moves one of them at most."""
    most = max(nsmallest(number, drawn), default=-1)
    return [place for place, each in enumerate(drawn) if each <= most][:number]
