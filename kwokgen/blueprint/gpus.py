"""The GPUs of a pool: a model of the catalogue or a driver of one's own, with what the blueprint writes over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kwokgen.blueprint import partitions
from kwokgen.blueprint.devices import Base, Whole, attributes, base, counted, offers, whole
from kwokgen.blueprint.marks import marks
from kwokgen.blueprint.scope import Data, Scope, quantities
from kwokgen.blueprint.sharing import opaque
from kwokgen.catalog import Fact
from kwokgen.model.device import Device, Devices
from kwokgen.model.gpu import Agreement, Gpus
from kwokgen.model.place import Place
from kwokgen.model.pool import Machine

OWN_NAME = "gpu-{index}"
OF_DEVICES = ("partitions", "taints", "missing")
UNSEEN = ("attributes", "capacity", "deviceName", "pcieRoots")
"""What an extended resource does not show."""


class Bare(NamedTuple):
    """A machine before its GPUs are known: what it brings, the PCI addresses of its slots, and where it says so."""

    machine: Machine
    gpus: Mapping[str, Any] | None
    pci: tuple[Mapping[str, str], ...]
    at: Place


class _Kind(NamedTuple):
    """What the GPUs are: a model with its driver, or neither."""

    model: Fact | None
    driver: Fact | None
    whole: Whole


def resolve_gpus(scope: Scope, item: Data, at: Place, bare: Bare) -> Gpus | None:
    """The GPUs of each node; None for a pool without, or with problems."""
    written: Data = item.get("gpus", {})
    where = at.below("gpus")
    if not written and not bare.gpus:
        _none(scope, item, at)
        return None
    if "driver" in written and item["gpuOperatorLabels"]:
        scope.fail(at.pos("gpuOperatorLabels"), "gpus", "only models of the catalogue have labels", "leave it out")
    kind = _own(scope, written, where) if "driver" in written else _brought(scope, written, where, bare)
    if kind is None or not counted(scope, written, where, kind.whole.count):
        return None
    if item["expose"] == "extended-resource":
        _unseen(scope, written, where)
    return _made(scope, item, where, kind)


def _none(scope: Scope, item: Data, at: Place) -> None:
    for key in ("gpuOperatorLabels",) if item["gpuOperatorLabels"] else ():
        scope.fail(at.pos(key), "gpus", "the pool has no GPUs to label", "leave it out")
    if item["expose"] == "extended-resource":
        scope.fail(at.pos("expose"), "gpus", "the pool has no GPUs to expose", "leave it out, or add gpus")


def _unseen(scope: Scope, written: Data, at: Place) -> None:
    """An extended resource is a number."""
    for key in OF_DEVICES:
        if key in written:
            scope.fail(at.key(key), "gpus", f'"{key}" is of DRA devices, the pool exposes a number', "use expose: dra")
    for key in UNSEEN:
        if key in written:
            scope.warn(at.key(key), "gpus", f'"{key}" changes nothing: the pool exposes a number', "leave it out")


def _brought(scope: Scope, written: Data, at: Place, bare: Bare) -> _Kind | None:
    """A model, as the machine brings it or as it is written."""
    brought = dict(bare.gpus or {})
    for key in ("model", "count"):
        if key in written and written[key] == brought.get(key):
            message = f"{bare.machine.name} has {key}: {written[key]} by itself"
            scope.warn(at.pos(key), "override", message, "leave it out")
    model, count = written.get("model", brought.get("model")), written.get("count", brought.get("count"))
    if model is None or count is None:
        missing = "model" if model is None else "count"
        hint = "model: h100-sxm5-80gb, or driver: for one of your own" if model is None else "count: 8"
        scope.fail(at.pos(), "gpus", f'missing key "{missing}": the machine brings no GPUs', hint)
        return None
    return _modelled(scope, written, at, str(model), int(count), bare)


def _modelled(scope: Scope, written: Data, at: Place, model: str, count: int, bare: Bare) -> _Kind | None:
    if "resource" in written:
        scope.fail(at.key("resource"), "gpus", "a model's extended resource is its driver's", "leave it out")
    asked = at.pos("model") if "model" in written else bare.at.pos("gpus", "model")
    fact = scope.fact("gpus", model, asked, "gpu")
    driver = scope.fact("drivers", fact.data["driver"], fact.at.pos("driver"), "driver") if fact else None
    if fact is None or driver is None:
        return None
    under = base(driver, OWN_NAME, fact)
    _repeated(scope, written, at, under)
    return _Kind(fact, driver, whole(scope, written, at, count, under, _slots(driver, bare, count)))


def _repeated(scope: Scope, written: Data, at: Place, under: Base) -> None:
    """Notes what the model has as it is written."""
    new_attributes = attributes(written.get("attributes", {}))
    new_capacity = quantities(written.get("capacity", {}), at.below("capacity"))
    same = [("attributes", name) for name, value in new_attributes.items() if under.attributes.get(name) == value]
    same += [("capacity", name) for name, value in new_capacity.items() if under.capacity.get(name) == value]
    for section, name in same:
        scope.warn(at.pos(section, name), "override", f"the model has this {name} by itself", "leave it out")


def _slots(driver: Fact, bare: Bare, count: int) -> tuple[Mapping[str, str], ...]:
    """Where each GPU sits in the machine; nowhere when it has fewer slots."""
    names = driver.data.get("pci")
    if not names or len(bare.pci) < count:
        return ()
    return tuple({names["busID"]: slot["bus"], names["root"]: slot["root"]} for slot in bare.pci[:count])


def _own(scope: Scope, written: Data, at: Place) -> _Kind | None:
    if "model" in written:
        message = "a driver of one's own has no model of the catalogue"
        scope.fail(at.key("model"), "gpus", message, "leave out model, or driver")
    if "count" not in written:
        scope.fail(at.pos(), "gpus", 'missing key "count": how many devices each node has')
        return None
    return _Kind(None, None, whole(scope, written, at, written["count"], Base(written["driver"], OWN_NAME)))


def _made(scope: Scope, item: Data, at: Place, kind: _Kind) -> Gpus | None:
    written: Data = item.get("gpus", {})
    cut = _cut(scope, written, at, kind) if "partitions" in written else None
    if cut is None and "partitions" in written:
        return None
    made = cut or partitions.Cut(kind.whole.all())
    extended = item["expose"] == "extended-resource"
    config = None if extended else opaque(scope, written.get("sharing"), at.below("sharing"), kind.driver)
    devices = Devices(
        driver=kind.whole.driver,
        devices=made.devices,
        counter_sets=made.counter_sets,
        marks=marks(scope, written, at, item["count"], kind.whole.count),
        offers=offers(kind.whole.driver, kind.driver, _sorts(made.devices)),
        config=config,
        at=at,
    )
    return Gpus(
        model=kind.model.name if kind.model else None,
        count=kind.whole.count,
        resource=kind.driver.data.get("extendedResource") if kind.driver else written.get("resource"),
        counted=kind.whole.count * _replicas(scope, written, at, extended=extended),
        devices=devices,
        labels=_labels(scope, kind, written) if kind.driver else {},
        agreements=_agreements(kind.driver),
    )


def _sorts(devices: tuple[Device, ...]) -> frozenset[str]:
    return frozenset("devices" if device.whole else "partitions" for device in devices)


def _cut(scope: Scope, written: Data, at: Place, kind: _Kind) -> partitions.Cut | None:
    asked, where = written["partitions"], at.below("partitions")
    if "sharing" in written and written["sharing"]["by"] == "capacity":
        message = "a GPU is cut or shared by capacity, not both"
        scope.fail(at.below("sharing").pos("by"), "partitions", message, "leave out one of them")
    form = partitions.form(kind.driver.data.get("partitions") if kind.driver else partitions.OWN_FORM)
    _idle(scope, written, at, kind, form or {})
    if kind.model and "table" in asked:
        scope.fail(where.key("table"), "partitions", "the catalogue has the model's profiles", "leave out table")
    known = kind.model.data.get("partitions") if kind.model else asked.get("table")
    if form is None or known is None:
        name = kind.model.name if kind.model else ""
        message = f"nothing is known of partitions of {name}" if name else 'missing key "table": the sorts of partition'
        scope.fail(
            where.pos(), "partitions", message, "" if name else "table: {slices: 8, profiles: [{name: half, size: 4}]}"
        )
        return None
    before = len(scope.problems)
    cuts = partitions.table(scope, known, kind.model.at.below("partitions") if kind.model else where.below("table"))
    return None if len(scope.problems) > before else partitions.cut(scope, asked, where, kind.whole, cuts, form)


def _idle(scope: Scope, written: Data, at: Place, kind: _Kind, form: Mapping[str, Any]) -> None:
    """Notes what partitions have by themselves."""
    static = written["partitions"]["mode"] == "static"
    for key in ("capacity", *(("deviceName",) if kind.model else ())) if static else ():
        if key in written:
            message = f'"{key}" is of whole GPUs, of which mode: static leaves none'
            scope.fail(at.key(key), "partitions", message, "leave it out")
    own = {*form.get("attributes", ()), *(form[key] for key in ("profile", "parent") if key in form)}
    for name in written.get("attributes", {}):
        if name in own:
            scope.fail(at.key("attributes", name), "partitions", f'partitions have their own "{name}"', "leave it out")


def _replicas(scope: Scope, written: Data, at: Place, *, extended: bool) -> int:
    """How many times each GPU is counted."""
    sharing = written.get("sharing", {})
    where = at.below("sharing")
    if extended and sharing.get("by") == "capacity":
        scope.fail(where.pos("by"), "sharing", "only DRA devices are shared by capacity", "use expose: dra")
    for key in ("interval", "activeThreadPercentage", "pinnedMemory") if extended else ():
        if key in sharing:
            message = f'"{key}" is of claims; a device plugin has it in its own configuration'
            scope.fail(where.key(key), "sharing", message, "leave it out")
    if extended and sharing and "replicas" not in sharing and sharing["by"] != "capacity":
        scope.fail(where.pos(), "sharing", 'missing key "replicas": how many times each GPU is counted')
    if not extended and "replicas" in sharing:
        message = "replicas multiply an extended resource, the pool has DRA devices"
        scope.fail(where.key("replicas"), "sharing", message, "leave it out, or use expose: extended-resource")
    replicas: int = sharing.get("replicas", 1) if extended else 1
    return replicas


def _agreements(driver: Fact | None) -> tuple[Agreement, ...]:
    entries = driver.data.get("agreements", ()) if driver else ()
    return tuple(Agreement(entry["label"], entry["of"], entry["as"]) for entry in entries)


def _labels(scope: Scope, kind: _Kind, written: Data) -> dict[str, str]:
    """What the vendor's operator says of the node; partitions and sharing are told as well."""
    if kind.driver is None or kind.model is None:
        return {}
    own, sharing = kind.driver.data, written.get("sharing", {})
    counting = {own["countLabel"]: str(kind.whole.count)} if "countLabel" in own else {}
    done = dict(own.get("labels", {})) | dict(kind.model.data.get("labels", {})) | counting
    new = {*written.get("attributes", ()), *written.get("capacity", ())}
    told = {each.label: each.told(kind.whole.device(0)) for each in _agreements(kind.driver) if each.of in new}
    done |= {label: value for label, value in told.items() if value is not None and label in done}
    if "replicas" in sharing:
        ways = own.get("sharing", {}).get(sharing["by"], {}).get("labels", {})
        _owned(scope, kind.model, {label for label, value in ways.items() if "{own}" in value} - done.keys())
        done |= {key: value.format(own=done.get(key), replicas=sharing["replicas"]) for key, value in ways.items()}
    for profile, number in written.get("partitions", {}).get("layout", {}).items():
        values = {"profile": profile.replace("+", "."), "count": number * kind.whole.count}
        ways = own.get("partitions", {}).get("labels", {})
        done |= {key.format(**values): value.format(**values) for key, value in ways.items()}
    return done


def _owned(scope: Scope, model: Fact, missing: set[str]) -> None:
    """Notes labels that sharing makes others of, and that neither the driver nor the model has."""
    for label in sorted(missing):
        message = f'"{model.name}" has no label {label}, of which its sharing makes another'
        scope.fail(model.at.pos("labels"), "catalog", message, "add it to the model's labels")
