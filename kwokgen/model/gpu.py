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

    @property
    def of_version(self) -> bool:
        """Whether only a version tells it."""
        return self.said in {*VERSIONS, "version"}

    def told(self, device: Device) -> str | None:
        """The label's value that follows from a whole device; None where it has no such attribute, or of another sort."""
        if self.said == "mebibytes":
            amount = quantity(device.capacity.get(self.of, "")) if device.whole else None
            return None if amount is None else str(int(amount / MEBI))
        value = device.attributes.get(self.of)
        if isinstance(value, Version):
            return self.read(value.text) if self.of_version else None
        return self.read(value) if isinstance(value, str) and not self.of_version else None

    def read(self, text: str) -> str:
        """The label's value of a text; of a version, the part that is told."""
        if self.said in VERSIONS:
            return [*text.split("."), "", ""][VERSIONS.index(self.said)]
        dashed = text if self.said == "version" else text.replace(" ", "-")
        return dashed.lower() if self.said == "small" else dashed


class Gpus(NamedTuple):
    """The GPUs of each node of a pool; `labels` are those that the vendor's operator sets.

    `counted` is how many of the extended resource a node has: more than GPUs where they are shared; `clique` is the label
    by which the operator tells domains of NVLink.
    """

    model: str | None
    count: int  # type: ignore[assignment]  # over the method of tuples
    resource: str | None
    counted: int
    devices: Devices
    labels: Mapping[str, str]
    agreements: tuple[Agreement, ...]
    clique: str | None = None
