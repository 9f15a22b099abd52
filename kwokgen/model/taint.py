"""What keeps pods from a node, and claims from a device."""

from __future__ import annotations

from typing import NamedTuple


class Taint(NamedTuple):
    """A taint of a node or a device; a value of None is a taint without value."""

    key: str
    effect: str
    value: str | None = None


FAKE_TAINT = Taint(key="kwok.x-k8s.io/node", value="fake", effect="NoSchedule")
