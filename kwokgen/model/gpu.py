"""The GPUs of a node: what they are, as an extended resource, and as devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kwokgen.model.device import Devices


class Gpus(NamedTuple):
    """The GPUs of each node of a pool; `labels` are those that the vendor's operator sets.

    `counted` is how many of the extended resource a node has: more than GPUs where they are shared.
    """

    model: str | None
    count: int  # type: ignore[assignment]  # over the method of tuples
    resource: str | None
    counted: int
    devices: Devices
    labels: Mapping[str, str]
