"""Draws: integers that follow from the seed, what is drawn, and a name; the same on every machine."""

from __future__ import annotations

from hashlib import blake2b


def draw(seed: int, what: str, name: str) -> int:
    """An integer below 2^64."""
    return int.from_bytes(blake2b(f"{seed}/{what}/{name}".encode(), digest_size=8).digest())


def between(seed: int, what: str, name: str, shortest: int, longest: int) -> int:
    """An integer from `shortest` to `longest`, both included."""
    return shortest + draw(seed, what, name) % (longest - shortest + 1)
