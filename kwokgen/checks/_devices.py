"""What checks of devices go through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kwokgen.model.cluster import Cluster
from kwokgen.model.device import Device
from kwokgen.model.place import Place
from kwokgen.problem import Pos


class Selector(NamedTuple):
    """A CEL expression of the blueprint: of a request for a class that follows from devices, or with "" of any device.

    `first` is whether no selector before it keeps devices away.
    """

    text: str
    pos: Pos
    device_class: str
    first: bool


def selectors(cluster: Cluster) -> Iterator[Selector]:
    """Every CEL expression that the blueprint itself has."""
    written = {entry.name for entry in cluster.device_classes if entry.at.node.child("selectors")}
    for entry in cluster.device_classes:
        yield from _of(entry.at, "")
    for claim in cluster.claims:
        for request in claim.requests:
            for ask in request.asks:
                yield from _of(ask.at, "" if ask.device_class in written else ask.device_class)


def _of(at: Place, device_class: str) -> Iterator[Selector]:
    node = at.node.child("selectors")
    for index, item in enumerate(node.value if node and isinstance(node.value, tuple) else ()):
        yield Selector(str(item.value), at.pos("selectors", index), device_class, index == 0)


def has(driver: str, device: Device, qualified: str) -> bool:
    """Whether a device has an attribute, called by its domain and name."""
    domain, _, name = qualified.rpartition("/")
    return qualified in device.attributes or (domain == driver and name in device.attributes)
