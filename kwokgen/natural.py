"""The order of names that people expect: gpu-9 before gpu-10."""

from __future__ import annotations

import re


def key(name: str) -> list[tuple[int, str]]:
    """What names are sorted by: their numbers as numbers, the rest as text."""
    # Not \d and isdigit: digits of other scripts and raised ones are text here, and int() fails of the latter.
    parts = re.split(r"([0-9]+)", name)
    return [(int(part), "") if index % 2 else (-1, part) for index, part in enumerate(parts)]
