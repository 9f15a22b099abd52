"""The GPUs of a pool: a model of the catalogue or a driver of one's own, with what the blueprint writes over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kwokgen.blueprint.scope import Data, Scope, quantities
from kwokgen.catalog import Fact
from kwokgen.model.gpu import Attribute, Gpus, Identity, Pci, PciAddress, Version
from kwokgen.model.place import Place
from kwokgen.model.pool import Machine


class Bare(NamedTuple):
    """A machine before its GPUs are known: what it brings, the PCI addresses of its slots, and where it says so."""

    machine: Machine
    gpus: Mapping[str, Any] | None
    pci: tuple[Mapping[str, str], ...]
    at: Place


def resolve_gpus(scope: Scope, item: Data, at: Place, bare: Bare) -> Gpus | None:
    """The GPUs of each node; None for a pool without, or with problems."""
    written: Data = item.get("gpus", {})
    where = at.below("gpus")
    if not written and not bare.gpus:
        _none(scope, item, at)
        return None
    if "driver" in written:
        if item["gpuOperatorLabels"]:
            scope.fail(at.pos("gpuOperatorLabels"), "gpus", "only models of the catalogue have labels", "leave it out")
        return _own(scope, written, where)
    brought = dict(bare.gpus or {})
    _unchanged(scope, written, brought, where, bare.machine.name)
    model, count = written.get("model", brought.get("model")), written.get("count", brought.get("count"))
    if model is None or count is None:
        missing = "model" if model is None else "count"
        hint = "model: h100-sxm5-80gb, or driver: for one of your own" if model is None else "count: 8"
        scope.fail(where.pos(), "gpus", f'missing key "{missing}": the machine brings no GPUs', hint)
        return None
    return _modelled(scope, written, where, str(model), int(count), bare)


def _none(scope: Scope, item: Data, at: Place) -> None:
    for key in ("gpuOperatorLabels",) if item["gpuOperatorLabels"] else ():
        scope.fail(at.pos(key), "gpus", "the pool has no GPUs to label", "leave it out")
    if item["expose"] == "extended-resource":
        scope.fail(at.pos("expose"), "gpus", "the pool has no GPUs to expose", "leave it out, or add gpus")


def _unchanged(scope: Scope, written: Data, brought: Data, at: Place, machine: str) -> None:
    for key in ("model", "count"):
        if key in written and written[key] == brought.get(key):
            scope.warn(at.pos(key), "override", f"{machine} has {key}: {written[key]} by itself", "leave it out")


def _modelled(scope: Scope, written: Data, at: Place, model: str, count: int, bare: Bare) -> Gpus | None:
    if "resource" in written:
        scope.fail(at.key("resource"), "gpus", "a model's extended resource is its driver's", "leave it out")
    asked = at.pos("model") if "model" in written else bare.at.pos("gpus", "model")
    fact = scope.fact("gpus", model, asked, "gpu")
    driver = scope.fact("drivers", fact.data["driver"], fact.at.pos("driver"), "driver") if fact else None
    if fact is None or driver is None:
        return None
    own = _attributes(driver.data.get("attributes", {})) | _attributes(fact.data.get("attributes", {}))
    attributes, capacity = _overridden(scope, written, at, own, _capacity(fact))
    before, after = written.get("deviceName", driver.data["deviceName"]).split("{index}")
    return Gpus(
        model=model,
        count=count,
        driver=driver.name,
        resource=driver.data["extendedResource"],
        device_before=before,
        device_after=after,
        attributes=attributes,
        capacity=capacity,
        identity=_identity(driver),
        pci=_pci(driver, bare, count),
        labels=_labels(driver, fact, count),
        selectors=tuple(driver.data["selectors"]),
    )


def _capacity(fact: Fact) -> dict[str, str]:
    return quantities(fact.data.get("capacity", {}), fact.at.below("capacity"))


def _overridden(
    scope: Scope, written: Data, at: Place, attributes: dict[str, Attribute], capacity: dict[str, str]
) -> tuple[dict[str, Attribute], dict[str, str]]:
    new_attributes = _attributes(written.get("attributes", {}))
    new_capacity = quantities(written.get("capacity", {}), at.below("capacity"))
    for section, new, old in (("attributes", new_attributes, attributes), ("capacity", new_capacity, capacity)):
        for name, value in new.items():
            if name in old and old[name] == value:
                scope.warn(at.pos(section, name), "override", f"the model has this {name} by itself", "leave it out")
    return attributes | new_attributes, capacity | new_capacity


def _identity(driver: Fact) -> Identity | None:
    uuid = driver.data.get("uuid")
    return Identity(attribute=uuid["attribute"], prefix=uuid["prefix"]) if uuid else None


def _pci(driver: Fact, bare: Bare, count: int) -> Pci | None:
    names = driver.data.get("pci")
    if not names or len(bare.pci) < count:
        return None
    addresses = tuple(PciAddress(bus=slot["bus"], root=slot["root"]) for slot in bare.pci[:count])
    return Pci(bus_attribute=names["busID"], root_attribute=names["root"], addresses=addresses)


def _labels(driver: Fact, fact: Fact, count: int) -> dict[str, str]:
    counted = {driver.data["countLabel"]: str(count)} if "countLabel" in driver.data else {}
    return dict(driver.data.get("labels", {})) | dict(fact.data.get("labels", {})) | counted


def _own(scope: Scope, written: Data, at: Place) -> Gpus | None:
    if "model" in written:
        message = "a driver of one's own has no model of the catalogue"
        scope.fail(at.key("model"), "gpus", message, "leave out model, or driver")
    if "count" not in written:
        scope.fail(at.pos(), "gpus", 'missing key "count": how many devices each node has')
        return None
    before, after = written.get("deviceName", "gpu-{index}").split("{index}")
    driver = written["driver"]
    return Gpus(
        model=None,
        count=written["count"],
        driver=driver,
        resource=written.get("resource"),
        device_before=before,
        device_after=after,
        attributes=_attributes(written.get("attributes", {})),
        capacity=quantities(written.get("capacity", {}), at.below("capacity")),
        identity=None,
        pci=None,
        labels={},
        selectors=(f"device.driver == '{driver}'",),
    )


def _attributes(data: Mapping[str, Any]) -> dict[str, Attribute]:
    return {name: Version(value["version"]) if isinstance(value, dict) else value for name, value in data.items()}
