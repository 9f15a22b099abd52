"""Devices of a node: their attributes, PCIe roots, taints, and those that are missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kwokgen.blueprint.scope import Data, Scope, places, quantities
from kwokgen.blueprint.sharing import opaque, policies
from kwokgen.catalog import Fact
from kwokgen.model.device import Attribute, Device, Devices, Listed, Mark, Offer, Policy, Uuid, Version
from kwokgen.model.place import Place
from kwokgen.model.taint import Taint

ROOT = "resource.kubernetes.io/pcieRoot"
"""https://github.com/kubernetes/dynamic-resource-allocation/blob/master/deviceattribute/attribute.go"""


class Each(NamedTuple):
    """An attribute with a value for each device."""

    values: tuple[Attribute, ...]


Values = Mapping[str, Attribute | Each]


class Whole(NamedTuple):
    """The equal devices of a node, before any is cut; `before` and `after` stand around the index in their names.

    `uuid` is the attribute that no two devices share, with the begin of its values; `pci` one mapping for each device.
    """

    driver: str
    before: str
    after: str
    count: int  # type: ignore[assignment]  # over the method of tuples
    attributes: Values
    capacity: Mapping[str, str]
    policies: Mapping[str, Policy] = {}
    uuid: tuple[str, str] | None = None
    pci: tuple[Mapping[str, str], ...] = ()

    def name(self, index: int) -> str:
        """The name of the n-th."""
        return f"{self.before}{index}{self.after}"

    def device(self, index: int) -> Device:
        """The n-th; what is written wins over uuid and PCI addresses."""
        done = {name: _of(value, index) for name, value in self.attributes.items()}
        if self.uuid:
            done.setdefault(self.uuid[0], Uuid(self.uuid[1], index))
        if self.pci:
            done = done | {name: value for name, value in self.pci[index].items() if name not in done}
        return Device(self.name(index), done, self.capacity, of=index, policies=self.policies)


def _of(value: Attribute | Each, index: int) -> Attribute:
    return value.values[index] if isinstance(value, Each) else value


def attributes(data: Mapping[str, Any]) -> dict[str, Attribute | Each]:
    """Attributes as a blueprint or a catalogue writes them."""
    return {name: _attribute(value) for name, value in data.items()}


def _attribute(value: Any) -> Attribute | Each:
    if not isinstance(value, dict):
        plain: Attribute = value
        return plain
    ((sort, inner),) = value.items()
    if sort == "version":
        return Version(inner)
    return Each(tuple(inner)) if sort == "each" else Listed(sort, tuple(inner))


def counted(scope: Scope, written: Data, at: Place, count: int) -> bool:
    """Whether attributes with a value for each device have as many as there are devices."""
    wrong = [
        (name, len(value["each"]))
        for name, value in written.get("attributes", {}).items()
        if isinstance(value, dict) and len(value.get("each", [None] * count)) != count
    ]
    for name, values in wrong:
        pos = at.pos("attributes", name, "each")
        scope.fail(pos, "devices", f"{values} values of {name} for {count} devices", "write one for each device")
    return not wrong


def one_root(scope: Scope, written: Data, at: Place, attribute: str = ROOT) -> None:
    """Notes a root that is written twice."""
    if "pcieRoots" in written and attribute in written.get("attributes", {}):
        message = f"pcieRoots says {attribute} of every device as well"
        scope.fail(at.key("attributes", attribute), "devices", message, "leave out one of them")


def roots(written: Data, count: int, attribute: str = ROOT) -> tuple[Mapping[str, str], ...]:
    """The PCIe root of each device, spread evenly and in order; none without `pcieRoots`."""
    if "pcieRoots" not in written:
        return ()
    number = written["pcieRoots"]
    return tuple({attribute: f"pci0000:{index * number // count:02x}"} for index in range(count))


def marks(scope: Scope, written: Data, at: Place, nodes: int, count: int) -> tuple[Mark, ...]:
    """Taints and missing devices."""
    done = []
    for section in ("taints", "missing"):
        items = written.get(section, ())
        for item, place in zip(items, places(at, section, items), strict=True):
            on = ranges(scope, item, "nodes", place, nodes, "nodes")
            held = ranges(scope, item, "devices", place, count, "devices")
            indexes = frozenset(index for first, last in held for index in range(first, last + 1))
            taint = Taint(item["key"], item["effect"], item.get("value")) if section == "taints" else None
            done.append(Mark(on, indexes, taint, place))
    _some_left(scope, [mark for mark in done if mark.taint is None], count)
    return tuple(done)


def _some_left(scope: Scope, missing: list[Mark], count: int) -> None:
    for mark in missing:
        for first, _ in mark.nodes:
            lost = frozenset[int]().union(*(other.devices for other in missing if other.holds(first)))
            if len(lost) == count and mark is [other for other in missing if other.holds(first)][-1]:
                hint = "nodes without devices are another pool"
                message = "no device is left in the slices of the nodes"
                scope.fail(mark.at.pos("devices"), "devices", message, hint)
                return


def ranges(scope: Scope, item: Data, key: str, at: Place, count: int, what: str) -> tuple[tuple[int, int], ...]:
    """Indexes and ranges of them as ranges, all when nothing is written."""
    if key not in item:
        return ((0, count - 1),)
    done = []
    for number, written in enumerate(item[key]):
        first, _, last = str(written).partition("-")
        low, high = int(first), int(last or first)
        pos = at.pos(key, number)
        if low > high:
            scope.fail(pos, "devices", f"the range {written} ends before it begins", f"write {high}-{low}")
        elif high >= count:
            scope.fail(pos, "devices", f"there is no {what.removesuffix('s')} {high}: they are 0 to {count - 1}")
        else:
            done.append((low, high))
    return tuple(done)


def others(scope: Scope, item: Data, at: Place, pci: tuple[Mapping[str, str], ...]) -> tuple[Devices, ...]:
    """The devices beside GPUs; `pci` are the slots of the machine's GPUs, whose roots they share."""
    items = item.get("devices", [])
    where = places(at, "devices", items)
    made = [_other(scope, entry, place, item["count"], pci) for entry, place in zip(items, where, strict=True)]
    return tuple(devices for devices in made if devices)


def _other(scope: Scope, written: Data, at: Place, nodes: int, pci: tuple[Mapping[str, str], ...]) -> Devices | None:
    known = written["driver"] in scope.catalog.names("drivers")
    driver = scope.fact("drivers", written["driver"], at.pos("driver"), "driver") if known else None
    if known and driver is None:
        return None
    if driver and "devices" in driver.data:
        return _fixed(scope, written, at, nodes, driver)
    if "count" not in written:
        scope.fail(at.pos(), "devices", 'missing key "count": how many devices each node has')
        return None
    if not counted(scope, written, at, written["count"]):
        return None
    return _counted(scope, written, at, nodes, driver, pci)


def _counted(
    scope: Scope, written: Data, at: Place, nodes: int, driver: Fact | None, pci: tuple[Mapping[str, str], ...]
) -> Devices:
    count, own = written["count"], driver.data if driver else {}
    capacity = quantities(written.get("capacity", {}), at.below("capacity"))
    before, after = written.get("deviceName", own.get("deviceName", "device-{index}")).split("{index}")
    root = own.get("pci", {}).get("root", ROOT)
    one_root(scope, written, at, root)
    shared_roots = tuple({root: pci[index % len(pci)]["root"]} for index in range(count)) if pci and driver else ()
    config = opaque(scope, written.get("sharing"), at.below("sharing"), driver)
    if "replicas" in written.get("sharing", {}):
        message = "replicas multiply an extended resource, these are DRA devices"
        scope.fail(at.below("sharing").key("replicas"), "sharing", message, "leave it out")
    whole = Whole(
        driver=written["driver"],
        before=before,
        after=after,
        count=count,
        attributes=attributes(own.get("attributes", {})) | attributes(written.get("attributes", {})),
        capacity=capacity,
        policies=policies(scope, written.get("sharing"), at.below("sharing"), capacity),
        uuid=(own["uuid"]["attribute"], own["uuid"]["prefix"]) if "uuid" in own else None,
        pci=roots(written, count, root) or shared_roots,
    )
    devices = tuple(whole.device(index) for index in range(count))
    return Devices(
        written["driver"], devices, (), marks(scope, written, at, nodes, count), offers(written, driver), config, at
    )


def _fixed(scope: Scope, written: Data, at: Place, nodes: int, driver: Fact) -> Devices:
    """The devices of a driver that has always the same."""
    for key in ("count", "deviceName", "attributes", "capacity", "pcieRoots", "sharing"):
        if key in written:
            scope.fail(at.key(key), "devices", f"the devices of {driver.name} are always the same", "leave it out")
    named = driver.data["devices"]
    devices = tuple(Device(name, fixed(values), {}, of=index) for index, (name, values) in enumerate(named.items()))
    found = marks(scope, written, at, nodes, len(devices))
    return Devices(driver.name, devices, (), found, offers(written, driver), None, at)


def fixed(data: Mapping[str, Any]) -> dict[str, Attribute]:
    """Attributes of the catalogue, which never differ from device to device."""
    return {name: value for name, value in attributes(data).items() if not isinstance(value, Each)}


def offers(written: Data, driver: Fact | None, sorts: frozenset[str] = frozenset({"devices"})) -> tuple[Offer, ...]:
    """The classes of the devices that there are, or one for a driver of one's own."""
    if driver is None:
        return (Offer(written["driver"], (f"device.driver == '{written['driver']}'",)),)
    return tuple(
        Offer(entry["name"], tuple(entry["selectors"]), whole=entry.get("of", "devices") == "devices")
        for entry in driver.data["classes"]
        if entry.get("of", "devices") in sorts
    )
