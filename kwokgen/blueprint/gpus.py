"""The GPUs of a pool: a model of the catalogue or a driver of one's own, with what the blueprint writes over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kwokgen.blueprint import partitions
from kwokgen.blueprint.devices import Base, Whole, attributes, base, counted, offers, whole
from kwokgen.blueprint.extended import replicas, unseen
from kwokgen.blueprint.labels import Labelled, agreements, operator_labels
from kwokgen.blueprint.marks import marks
from kwokgen.blueprint.scope import Data, Scope, quantities
from kwokgen.blueprint.sharing import opaque
from kwokgen.blueprint.tables import table
from kwokgen.catalog import Fact
from kwokgen.formats import FORMATS, MOST_LABEL, is_label
from kwokgen.model.device import Attribute, Device, Devices
from kwokgen.model.gpu import Gpus
from kwokgen.model.place import Place
from kwokgen.model.pool import Machine

OWN_NAME = "gpu-{index}"


class Bare(NamedTuple):
    """A machine before its GPUs are known: what it brings, the PCI addresses of its slots, and where it says so."""

    machine: Machine
    gpus: Mapping[str, Any] | None
    pci: tuple[Mapping[str, Any], ...]
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
        unseen(scope, written, where)
    else:
        _unseated(scope, where, bare, kind)
    return _made(scope, item, where, kind)


def _none(scope: Scope, item: Data, at: Place) -> None:
    for key in ("gpuOperatorLabels",) if item["gpuOperatorLabels"] else ():
        scope.fail(at.pos(key), "gpus", "the pool has no GPUs to label", "leave it out")
    if item["expose"] == "extended-resource":
        scope.fail(at.pos("expose"), "gpus", "the pool has no GPUs to expose", "leave it out, or add gpus")


def _unseated(scope: Scope, at: Place, bare: Bare, kind: _Kind) -> None:
    """Notes GPUs that say nothing of PCI for want of slots."""
    if kind.driver and "pci" in kind.driver.data and bare.pci and not kind.whole.pci:
        message = (
            f"{bare.machine.name} has slots for {len(bare.pci)} GPUs: none of {kind.whole.count} says where it sits"
        )
        scope.warn(at.pos("count"), "gpus", message, "say pcieRoots, or fewer GPUs")


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


def _slots(driver: Fact, bare: Bare, count: int) -> tuple[Mapping[str, Attribute], ...]:
    """Where each GPU sits in the machine; nowhere when it has fewer slots."""
    names = driver.data.get("pci")
    if not names or len(bare.pci) < count:
        return ()
    said = {"bus": names["busID"], "root": names["root"], "numa": names.get("numa")}
    return tuple({said[key]: value for key, value in slot.items() if said[key]} for slot in bare.pci[:count])


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
        counted=kind.whole.count * replicas(scope, written, at, extended=extended),
        devices=devices,
        labels=_labels(scope, item, at, kind),
        agreements=agreements(kind.driver),
        clique=kind.driver.data.get("cliqueLabel") if kind.driver else None,
    )


def _labels(scope: Scope, item: Data, at: Place, kind: _Kind) -> dict[str, str]:
    if kind.driver is None or kind.model is None or not item["gpuOperatorLabels"]:
        return {}
    return operator_labels(scope, item.get("gpus", {}), at, Labelled(kind.driver, kind.model, kind.whole))


def _sorts(devices: tuple[Device, ...]) -> frozenset[str]:
    return frozenset("devices" if device.whole else "partitions" for device in devices)


def _cut(scope: Scope, written: Data, at: Place, kind: _Kind) -> partitions.Cut | None:
    asked, where = written["partitions"], at.below("partitions")
    if "sharing" in written and written["sharing"]["by"] == "capacity":
        message = "a GPU is cut or shared by capacity, not both"
        scope.fail(at.below("sharing").pos("by"), "partitions", message, "leave out one of them")
    elif "sharing" in written and asked["mode"] == "static":
        message = "sharing here is of whole GPUs, of which mode: static leaves none"
        scope.fail(at.key("sharing"), "partitions", message, "share partitions in the claims' requests")
    form = partitions.form(kind.driver)
    _idle(scope, written, at, kind, form.named if form else frozenset())
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
    cuts = table(scope, known, kind.model.at.below("partitions") if kind.model else where.below("table"))
    made = None if len(scope.problems) > before else partitions.cut(scope, asked, where, kind.whole, cuts, form)
    _named(scope, at, made)
    return made


def _named(scope: Scope, at: Place, made: partitions.Cut | None) -> None:
    """Notes counter sets whose names are too long, where those of devices are not."""
    wrong = [held.name for held in made.counter_sets if not is_label(held.name)] if made else []
    if made and wrong and all(is_label(device.name) for device in made.devices):
        form = FORMATS["dns-label"]
        message = f'the counter set "{wrong[-1]}" is not {form.what}: {form.allowed}'
        over = len(wrong[-1]) - MOST_LABEL
        scope.fail(at.pos("deviceName"), "device-name", message, f"shorten the name by {over}" if over > 0 else "")


def _idle(scope: Scope, written: Data, at: Place, kind: _Kind, own: frozenset[str]) -> None:
    """Notes what partitions have by themselves."""
    static = written["partitions"]["mode"] == "static"
    for key in ("capacity", *(("deviceName",) if kind.model else ())) if static else ():
        if key in written:
            message = f'"{key}" is of whole GPUs, of which mode: static leaves none'
            scope.fail(at.key(key), "partitions", message, "leave it out")
    for name in written.get("attributes", {}):
        if name.removeprefix(f"{kind.whole.driver}/") in own:
            scope.fail(at.key("attributes", name), "partitions", f'partitions have their own "{name}"', "leave it out")
