"""The GPUs of a node, as devices and as an extended resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Version(NamedTuple):
    """A device attribute that is a semantic version."""

    text: str


Attribute = str | int | bool | Version


class Identity(NamedTuple):
    """The attribute that is distinct for each device of a cluster, and what its value starts with."""

    attribute: str
    prefix: str


class PciAddress(NamedTuple):
    """Where a device sits in its machine."""

    bus: str
    root: str


class Pci(NamedTuple):
    """The attributes that hold a device's PCI address and root, and one address a device."""

    bus_attribute: str
    root_attribute: str
    addresses: tuple[PciAddress, ...]


class Gpus(NamedTuple):
    """The GPUs of each node of a pool; `labels` are those that the vendor's operator sets."""

    model: str | None
    count: int  # type: ignore[assignment]  # over the method of tuples
    driver: str
    resource: str | None
    device_before: str
    device_after: str
    attributes: Mapping[str, Attribute]
    capacity: Mapping[str, str]
    identity: Identity | None
    pci: Pci | None
    labels: Mapping[str, str]
    selectors: tuple[str, ...]

    def device(self, index: int) -> str:
        """The name of the n-th device of a node."""
        return f"{self.device_before}{index}{self.device_after}"
