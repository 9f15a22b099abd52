"""Devices of a node: what they are, and those beside its GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kwokgen.blueprint.marks import marks
from kwokgen.blueprint.scope import Data, Scope, places, quantities
from kwokgen.blueprint.sharing import opaque, policies
from kwokgen.catalog import Fact
from kwokgen.model.device import Attribute, Device, Devices, Listed, Offer, Policy, Uuid, Version
from kwokgen.model.place import Place

OWN_NAME = "device-{index}"
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
    pci: tuple[Mapping[str, Attribute], ...] = ()

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

    def all(self) -> tuple[Device, ...]:
        """Every one, in order."""
        return tuple(self.device(index) for index in range(self.count))


class Base(NamedTuple):
    """What devices are before a blueprint writes over it: `name` has {index}, `root` is the attribute of the PCIe root."""

    driver: str
    name: str
    attributes: Mapping[str, Attribute | Each] = {}
    capacity: Mapping[str, str] = {}
    uuid: tuple[str, str] | None = None
    root: str = ROOT


def base(driver: Fact, name: str, model: Fact | None = None) -> Base:
    """What the catalogue says of a driver's devices, and of their model; `name` where it says none."""
    own, uuid = driver.data, driver.data.get("uuid")
    return Base(
        driver=driver.name,
        name=own.get("deviceName", name),
        attributes=attributes(own.get("attributes", {})) | (attributes(model.data["attributes"]) if model else {}),
        capacity=quantities(model.data["capacity"], model.at.below("capacity")) if model else {},
        uuid=(uuid["attribute"], uuid["prefix"]) if uuid else None,
        root=own.get("pci", {}).get("root", ROOT),
    )


def whole(
    scope: Scope, written: Data, at: Place, count: int, under: Base, slots: tuple[Mapping[str, Attribute], ...] = ()
) -> Whole:
    """Devices as they are written over their base; `slots` say where they sit, unless `pcieRoots` does."""
    if "pcieRoots" in written and under.root in written.get("attributes", {}):
        message = f"pcieRoots says {under.root} of every device as well"
        scope.fail(at.key("attributes", under.root), "devices", message, "leave out one of them")
    _called_twice(scope, written, at, under, slots)
    before, after = written.get("deviceName", under.name).split("{index}")
    capacity = dict(under.capacity) | quantities(written.get("capacity", {}), at.below("capacity"))
    return Whole(
        driver=under.driver,
        before=before,
        after=after,
        count=count,
        attributes=dict(under.attributes) | attributes(written.get("attributes", {})),
        capacity=capacity,
        policies=policies(scope, written.get("sharing"), at.below("sharing"), capacity),
        uuid=under.uuid,
        pci=_roots(written, count, under.root) or slots,
    )


def _called_twice(
    scope: Scope, written: Data, at: Place, under: Base, slots: tuple[Mapping[str, Attribute], ...]
) -> None:
    """Notes names with the driver's own domain beside the same without: to the API they are one."""
    known = {
        "attributes": {*under.attributes, *(under.uuid or ())[:1], *(slots[0] if slots else ())},
        "capacity": {*under.capacity},
    }
    for section, names in known.items():
        for name in written.get(section, ()):
            plain = name.removeprefix(f"{under.driver}/")
            if plain != name and plain in names | written[section].keys():
                message = f'"{name}" and "{plain}" are one and the same of devices of {under.driver}'
                scope.fail(at.key(section, name), "devices", message, f"write {plain}")


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


def _roots(written: Data, count: int, attribute: str) -> tuple[Mapping[str, Attribute], ...]:
    """The PCIe root of each device, spread evenly and in order; none without `pcieRoots`."""
    number = written.get("pcieRoots")
    return tuple({attribute: f"pci0000:{index * number // count:02x}"} for index in range(count)) if number else ()


def others(scope: Scope, item: Data, at: Place, pci: tuple[Mapping[str, Attribute], ...]) -> tuple[Devices, ...]:
    """The devices beside GPUs; `pci` are the slots of the machine's GPUs, whose roots they share."""
    items = item.get("devices", [])
    where = places(at, "devices", items)
    made = [_other(scope, entry, place, item["count"], pci) for entry, place in zip(items, where, strict=True)]
    return tuple(devices for devices in made if devices)


def _other(
    scope: Scope, written: Data, at: Place, nodes: int, pci: tuple[Mapping[str, Attribute], ...]
) -> Devices | None:
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
    scope: Scope, written: Data, at: Place, nodes: int, driver: Fact | None, pci: tuple[Mapping[str, Attribute], ...]
) -> Devices:
    count = written["count"]
    under = base(driver, OWN_NAME) if driver else Base(written["driver"], OWN_NAME)
    shared_roots = (
        tuple({under.root: pci[index % len(pci)]["root"]} for index in range(count)) if pci and driver else ()
    )
    config = opaque(scope, written.get("sharing"), at.below("sharing"), driver)
    if "replicas" in written.get("sharing", {}):
        message = "replicas multiply an extended resource, these are DRA devices"
        scope.fail(at.below("sharing").key("replicas"), "sharing", message, "leave it out")
    made = whole(scope, written, at, count, under, shared_roots).all()
    found = marks(scope, written, at, nodes, count)
    return Devices(under.driver, made, (), found, offers(under.driver, driver), config, at)


def _fixed(scope: Scope, written: Data, at: Place, nodes: int, driver: Fact) -> Devices:
    """The devices of a driver that has always the same."""
    for key in ("count", "deviceName", "attributes", "capacity", "pcieRoots", "sharing"):
        if key in written:
            scope.fail(at.key(key), "devices", f"the devices of {driver.name} are always the same", "leave it out")
    named = driver.data["devices"]
    devices = tuple(Device(name, fixed(values), {}, of=index) for index, (name, values) in enumerate(named.items()))
    found = marks(scope, written, at, nodes, len(devices))
    return Devices(driver.name, devices, (), found, offers(driver.name, driver), None, at)


def fixed(data: Mapping[str, Any]) -> dict[str, Attribute]:
    """Attributes of the catalogue, which never differ from device to device."""
    return {name: value for name, value in attributes(data).items() if not isinstance(value, Each)}


def offers(name: str, driver: Fact | None, sorts: frozenset[str] = frozenset({"devices"})) -> tuple[Offer, ...]:
    """The classes of the devices that there are, or one for a driver of one's own."""
    if driver is None:
        return (Offer(name, (f"device.driver == '{name}'",)),)
    return tuple(
        Offer(
            entry["name"],
            tuple(entry["selectors"]),
            whole=entry.get("of", "devices") == "devices",
            at=None if driver.builtin else driver.at.below("classes", index),
        )
        for index, entry in enumerate(driver.data["classes"])
        if entry.get("of", "devices") in sorts
    )
