"""JSON merge patches (RFC 7386): whether one reaches a path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def reaches(patch: Any, path: Sequence[str | int]) -> bool:
    """Whether a patch writes or removes what is at a path, or what holds it."""
    for step in path:
        if not isinstance(patch, Mapping):
            return True
        if step not in patch:
            return False
        patch = patch[step]
    return True
