"""What checks of devices go through."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from kwokgen.model.amounts import worth
from kwokgen.model.claim import BY_CLASS, DeviceClass, Model
from kwokgen.model.cluster import SHARD_VALUES, Cluster, Patch
from kwokgen.model.device import Attribute, Device, Devices, NetworkDevices
from kwokgen.model.labels import HOSTNAME, SHARD, of_bundle, of_node, of_place
from kwokgen.model.place import Path, Place
from kwokgen.model.pool import Pool
from kwokgen.problem import Pos

PATCHED = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate")
"""Kinds that hold expressions."""
Of = tuple[str, Device]
"""A device with its driver."""


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
    return attribute(driver, device, qualified) is not None


def attribute(driver: str, device: Device, qualified: str) -> Attribute | None:
    """An attribute of a device, called by its domain and name; None where it has no such."""
    domain, _, name = qualified.rpartition("/")
    own = device.attributes.get(name) if domain == driver else None
    return device.attributes.get(qualified, own)


def of_model(model: Model, driver: str, device: Device) -> bool:
    """Whether a device has what claims know a model by."""
    own = device.attributes.get(model.attribute) if driver == model.driver else None
    return model.value in (own, device.attributes.get(f"{model.driver}/{model.attribute}"))


class Need(NamedTuple):
    """A number of devices of a class that are allocated together, all where None; `pools` have nodes for them."""

    device_class: str
    count: int | None  # type: ignore[assignment]  # over the method of tuples
    pools: tuple[Pool, ...]
    pos: Pos


def needs(cluster: Cluster) -> Iterator[Need]:
    """What claims ask for, and containers by extended resources."""
    for claim in cluster.claims:
        for request in claim.requests:
            for ask in request.asks:
                pos = ask.at.pos("count" if ask.count else "allocationMode")
                yield Need(ask.device_class, ask.count, cluster.pools, pos)
    classes = {entry.resource: entry.name for entry in cluster.device_classes if entry.resource}
    for workload in cluster.parts:
        for container, at in workload.containers:
            for resource, amount in container.limits.items():
                pools = tuple(pool for pool in workload.pools if not _counts(pool, resource))
                name = classes.get(resource) or resource.removeprefix(BY_CLASS)
                pos = at.pos("resources", resource) if at.raw("resources", resource) else workload.at.pos("gpus")
                yield Need(name, int(worth(amount)), pools, pos)


def _at(places: Mapping[str, Callable[[int], str]], node: int) -> dict[str, str]:
    return {key: text(node) for key, text in places.items()}


def _counts(pool: Pool, resource: str) -> bool:
    """Whether its nodes have a resource by themselves: no device is allocated for it there."""
    return resource in pool.machine.allocatable or resource == pool.resource


def of_class(cluster: Cluster, name: str, devices: Devices) -> tuple[Device, ...]:
    """The devices that may be of a class: of one's own, those of the drivers that it names, or any."""
    entry = next((entry for entry in cluster.device_classes if entry.name == name), None)
    if entry is None:
        return ()
    if not entry.at.node.child("selectors") and any(each.offered(name) for each in cluster.published):
        return devices.offered(name)
    named = _drivers(entry)
    return devices.devices if devices.driver in named or not named else ()


def _drivers(entry: DeviceClass) -> set[str]:
    texts = " ".join(entry.selectors)
    return {found[2] for found in re.finditer(r"""device\.(?:driver *== *|\w+\[)(['"])(.+?)\1""", texts)}


def meets(cluster: Cluster, pool: Pool, network: NetworkDevices) -> bool:
    """Whether some node of a pool can use devices that belong to none."""
    places = of_place(cluster.name, cluster.topology, pool)
    each = network.labels.keys() & {HOSTNAME, SHARD, *places}
    named = not network.pools or pool.name in network.pools
    return named and any(
        network.labels.items()
        <= (
            of_bundle(cluster.name) | of_node(pool, pool.names.name(node), str(node % SHARD_VALUES), _at(places, node))
        ).items()
        for node in range(pool.count if each else 1)
    )
