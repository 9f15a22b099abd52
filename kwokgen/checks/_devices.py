"""What checks of devices go through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kwokgen.model.cluster import Cluster, Patch
from kwokgen.model.device import Device
from kwokgen.model.place import Path, Place
from kwokgen.problem import Pos

PATCHED = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate")
"""Kinds that hold expressions."""


class Selector(NamedTuple):
    """A CEL expression of the user's: of a request for a class that follows from devices, or with "" of any device.

    `first` is whether no selector before it keeps devices away.
    """

    text: str
    pos: Pos
    device_class: str
    first: bool


def selectors(cluster: Cluster) -> Iterator[Selector]:
    """Every CEL expression that the blueprint itself has, its patches too, and of a catalogue beside kwokgen's."""
    written = {entry.name for entry in cluster.device_classes if entry.at.node.child("selectors")}
    for entry in cluster.device_classes:
        yield from _of(entry.at, "")
    for claim in cluster.claims:
        for request in claim.requests:
            for ask in request.asks:
                yield from _of(ask.at, "" if ask.device_class in written else ask.device_class)
    offered = [offer.at for each in cluster.published for offer in each.offers if offer.at]
    for at in {at.pos(): at for at in offered}.values():
        yield from _of(at, "")
    for patch in cluster.patches:
        if patch.kind in PATCHED:
            yield from _patched(patch, patch.merge, ())


def _patched(patch: Patch, part: Any, path: Path) -> Iterator[Selector]:
    """What a patch writes as `cel: {expression: …}`, wherever the API version of its object has it."""
    if isinstance(part, Mapping):
        written = part["expression"] if path[-1:] == ("cel",) and "expression" in part else None
        if isinstance(written, str):
            yield Selector(written, patch.at.pos("merge", *path, "expression"), "", first=False)
    steps = part.items() if isinstance(part, Mapping) else enumerate(part if isinstance(part, list | tuple) else ())
    for step, below in steps:
        yield from _patched(patch, below, (*path, step))


def _of(at: Place, device_class: str) -> Iterator[Selector]:
    node = at.node.child("selectors")
    for index, item in enumerate(node.value if node and isinstance(node.value, tuple) else ()):
        yield Selector(str(item.value), at.pos("selectors", index), device_class, index == 0)


def has(driver: str, device: Device, qualified: str) -> bool:
    """Whether a device has an attribute, called by its domain and name."""
    domain, _, name = qualified.rpartition("/")
    return qualified in device.attributes or (domain == driver and name in device.attributes)
