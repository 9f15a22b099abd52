"""DRA devices: what one driver publishes for a node, or for several."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from kwokgen.model.place import Place
from kwokgen.model.ranges import Ranges, holds, stretches
from kwokgen.model.taint import Taint


class Version(NamedTuple):
    """A device attribute that is a semantic version."""

    text: str


class Listed(NamedTuple):
    """A device attribute of several values."""

    sort: Literal["strings", "ints", "bools", "versions"]
    values: tuple[str | int | bool, ...]


class Uuid(NamedTuple):
    """A value that no other device of any cluster has: `number` tells those of one node and prefix apart."""

    prefix: str
    number: int


Attribute = str | int | bool | Version | Listed | Uuid


class Policy(NamedTuple):
    """What a claim may ask of a capacity, as canonical quantities: `values`, from `least` in steps, or with neither anything."""

    default: str
    least: str | None = None
    most: str | None = None
    step: str | None = None
    values: tuple[str, ...] = ()


class CounterSet(NamedTuple):
    """What a whole device has to give to its partitions."""

    name: str
    counters: Mapping[str, str]


class Device(NamedTuple):
    """One device; `of` is the index of the whole device that it is, or is a part of.

    A device with policies serves several claims; one that `consumes` counters does so from the set `counter_set`.
    """

    name: str
    attributes: Mapping[str, Attribute]
    capacity: Mapping[str, str]
    of: int
    whole: bool = True
    policies: Mapping[str, Policy] = {}
    counter_set: str | None = None
    consumes: Mapping[str, str] = {}


class Mark(NamedTuple):
    """What is different on some devices of some nodes: a taint, or, without, that they are missing.

    `devices` are the indexes of whole devices, with what they are cut into; `later` says that only a Stage does
    it; for a taint there has to be room.
    """

    nodes: Ranges
    devices: frozenset[int]
    taint: Taint | None
    at: Place
    later: bool = False

    @property
    def lost(self) -> bool:
        """Whether the devices are missing from the beginning."""
        return self.taint is None and not self.later

    def holds(self, node: int) -> bool:
        """Whether a node has it."""
        return holds(self.nodes, node)


class Opaque(NamedTuple):
    """Parameters that only a driver reads; `requests` of a claim that they are for, all when empty."""

    driver: str
    parameters: Mapping[str, Any]
    requests: tuple[str, ...] = ()


class Offer(NamedTuple):
    """A DeviceClass that a driver ships, for whole devices, for partitions, or where `whole` is None for both.

    `at` is its entry in a catalogue of the user's own.
    """

    name: str
    selectors: tuple[str, ...]
    whole: bool | None = None
    at: Place | None = None


class Devices(NamedTuple):
    """What a driver publishes for each node of a pool, or once; `offers` are classes of what is there."""

    driver: str
    devices: tuple[Device, ...]
    counter_sets: tuple[CounterSet, ...]
    marks: tuple[Mark, ...]
    offers: tuple[Offer, ...]
    config: Opaque | None
    at: Place

    def on(self, node: int) -> Devices:
        """With the marks of one node only."""
        return self._replace(marks=tuple(mark for mark in self.marks if mark.holds(node)))

    def had(self, nodes: int, without: Callable[[Mark], bool] = attrgetter("lost")) -> Devices:
        """Without the devices that are missing on each of so many nodes, or have another mark there."""
        lost = [mark for mark in self.marks if without(mark)]
        found = stretches(nodes, [mark.nodes for mark in lost])
        lacks = [frozenset[int]().union(*(lost[index].devices for index in held)) for _, _, held in found]
        gone = frozenset.intersection(*lacks)
        return (
            self._replace(devices=tuple(device for device in self.devices if device.of not in gone)) if gone else self
        )

    def offered(self, name: str) -> tuple[Device, ...]:
        """The devices of a class that follows from these; none of any other."""
        sorts = {offer.whole for offer in self.offers if offer.name == name}
        return tuple(device for device in self.devices if sorts & {device.whole, None})


class NetworkDevices(NamedTuple):
    """Devices of several nodes; with neither pools nor labels, of every node of the bundle."""

    name: str
    devices: Devices
    pools: tuple[str, ...]
    labels: Mapping[str, str]
    at: Place


class DeviceTaintRule(NamedTuple):
    """A taint as an object: of the devices that meet everything that is not None."""

    name: str
    driver: str | None
    pool: str | None
    device: str | None
    taint: Taint
    at: Place
