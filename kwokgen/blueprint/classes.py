"""DeviceClasses: derived from what the nodes have, written, or known to be in the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.model.claim import BY_CLASS, DeviceClass
from kwokgen.model.cluster import published
from kwokgen.model.device import Devices, NetworkDevices, Opaque
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool
from kwokgen.model.workload import Workload


def device_classes(
    scope: Scope, spec: Data, at: Place, pools: tuple[Pool, ...], network: tuple[NetworkDevices, ...]
) -> tuple[DeviceClass, ...]:
    """The classes of the blueprint, and one for each sort of device that it does not name."""
    items = spec.get("deviceClasses", [])
    where = places(at, "deviceClasses", items)
    scope.distinct(items, where, "device classes")
    derived: dict[str, _Derived] = {}
    for devices in published(pools, network):
        _not_of_the_catalog(scope, devices)
        for made in _derived(devices):
            known = derived.setdefault(made.of.name, made)
            _same(scope, known, made)
    bases = {name: one.of for name, one in derived.items()}
    written = {item["name"]: _device_class(scope, item, place, bases) for item, place in zip(items, where, strict=True)}
    return tuple((bases | written).values())


class _Derived(NamedTuple):
    """A class that follows from devices of a driver."""

    driver: str
    of: DeviceClass


def _not_of_the_catalog(scope: Scope, devices: Devices) -> None:
    """Devices of one's own have neither the names nor the classes of a driver that is known."""
    ones_own = any(offer.whole is None for offer in devices.offers)
    if ones_own and devices.driver in scope.catalog.names("drivers"):
        message = f"{devices.driver} is a driver of the catalogue, whose devices and classes have another form"
        hint = "use a model, or devices of a pool, for the catalogue's; give a driver of your own another name"
        scope.fail(devices.at.pos("driver"), "device-class", message, hint)


def _same(scope: Scope, known: _Derived, made: _Derived) -> None:
    """Notes what would be two classes of one name."""
    if known.driver != made.driver:
        place = next((one.of.at for one in (made, known) if one.of.at.raw("driver")), made.of.at)
        message = f'devices of {known.driver} and of {made.driver} both have a class "{made.of.name}"'
        scope.fail(place.pos("driver"), "device-class", message, "give a driver of your own another name")
    elif known.of.config != made.of.config:
        message = f'pools with other sharing have the class "{made.of.name}" as well'
        hint = "share in the claims' requests, or in classes of your own"
        scope.fail(made.of.at.pos("sharing"), "device-class", message, hint)


def _derived(devices: Devices) -> Iterator[_Derived]:
    config = (devices.config,) if devices.config else ()
    for offer in devices.offers:
        # Partitions take other parameters than whole devices.
        own = config if offer.whole is not False else ()
        made = DeviceClass(offer.name, offer.selectors, created=True, resource=None, config=own, at=devices.at)
        yield _Derived(devices.driver, made)


def _device_class(scope: Scope, item: Data, at: Place, derived: dict[str, DeviceClass]) -> DeviceClass:
    base = derived.get(item["name"])
    for key in ("selectors", "config") if not item["create"] else ():
        if key in item:
            scope.fail(at.key(key), "device-class", f"a class that is not created has no {key} here", "leave them out")
    changed = "extendedResourceName" in item or "config" in item
    if item["create"] and "selectors" not in item and not (base and changed):
        message = f'class "{item["name"]}" has no selectors'
        hint = "the derived class needs no entry" if base else "add selectors, or create: false if the cluster has it"
        scope.fail(at.pos(), "device-class", message, hint)
    if base and base.config and (not item["create"] or "config" in item):
        message = "the pool's sharing is the derived class's config, which is lost here"
        where = at.key("config") if "config" in item else at.pos("create")
        scope.fail(where, "device-class", message, "share in the claims' requests instead")
    config = tuple(Opaque(entry["driver"], entry["parameters"]) for entry in item.get("config", ()))
    for index, entry in enumerate(item.get("config", ())):
        if "requests" in entry:
            scope.fail(
                at.below("config", index).key("requests"), "device-class", "a class has no requests", "leave it out"
            )
    return DeviceClass(
        name=item["name"],
        selectors=tuple(item.get("selectors", base.selectors if base else ())),
        created=item["create"],
        resource=item.get("extendedResourceName"),
        config=config or (base.config if base else ()),
        at=at,
    )


def by_name(scope: Scope, workloads: tuple[Workload, ...], classes: Mapping[str, DeviceClass]) -> None:
    """Notes containers that ask for the extended resource of a class that nobody has."""
    for workload in workloads:
        for container, at in workload.containers:
            for resource in container.requests:
                if resource.startswith(BY_CLASS):
                    pos = at.key("resources", resource)
                    scope.find(classes, resource.removeprefix(BY_CLASS), pos, "device class")
