"""The GPUs of a node: what they are, as an extended resource, and as devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from kwokgen.formats import quantity
from kwokgen.model.device import Device, Devices, Version

MEBI = 1024**2
VERSIONS = ("major", "minor", "patch")


class Agreement(NamedTuple):
    """A label, and the attribute or capacity `of` a device that it tells too, in the form of `said`."""

    label: str
    of: str
    said: Literal["dashed", "small", "mebibytes", "major", "minor", "patch", "version"]

    def told(self, device: Device) -> str | None:
        """The label's value that follows from a whole device; None where it has no such attribute."""
        if self.said == "mebibytes":
            amount = quantity(device.capacity.get(self.of, "")) if device.whole else None
            return None if amount is None else str(int(amount / MEBI))
        value = device.attributes.get(self.of)
        if isinstance(value, Version):
            return value.text if self.said == "version" else value.text.split(".")[VERSIONS.index(self.said)]
        if not isinstance(value, str):
            return None
        dashed = value.replace(" ", "-")
        return dashed.lower() if self.said == "small" else dashed


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
    agreements: tuple[Agreement, ...]
