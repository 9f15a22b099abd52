"""The GPUs of a node, as devices and as an extended resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Version:
    """A device attribute that is a semantic version."""

    text: str


Attribute = str | int | bool | Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The attribute that is distinct for each device of a cluster, and what its value starts with."""

    attribute: str
    prefix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PciAddress:
    """Where a device sits in its machine."""

    bus: str
    root: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pci:
    """The attributes that hold a device's PCI address and root, and one address a device."""

    bus_attribute: str
    root_attribute: str
    addresses: tuple[PciAddress, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpus:
    """The GPUs of each node of a pool; `labels` are those that the vendor's operator sets."""

    model: str | None
    count: int
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
