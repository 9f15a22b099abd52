"""Faults: entries of the catalogue on nodes of pools, with the effects that those can have."""

from __future__ import annotations

from datetime import UTC, datetime
from math import ceil
from typing import Any

from kwokgen import formats
from kwokgen.blueprint import detectors
from kwokgen.blueprint.marks import ranges, runs
from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.catalog import Fact
from kwokgen.draw import lowest
from kwokgen.model.device import Mark
from kwokgen.model.fault import Condition, Event, Exit, Fault, Start
from kwokgen.model.gpu import Gpus
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool
from kwokgen.model.ranges import Ranges
from kwokgen.model.taint import Taint
from kwokgen.problem import quoted

EFFECTS = ("conditions", "taint", "cordon", "labels", "deviceTaint", "deviceGone", "allocatable", "exit", "event")


def resolve(scope: Scope, spec: Data, at: Place, pools: tuple[Pool, ...]) -> tuple[Fault, ...]:
    """Every fault that could be understood."""
    items = spec.get("faults", [])
    where = places(at, "faults", items)
    scope.distinct(items, where, "faults")
    written = {pool["name"]: True for pool in spec["pools"]}
    named = {pool.name: pool for pool in pools}
    found = []
    for item, place in zip(items, where, strict=True):
        fact = scope.fact("faults", item["fault"], place.pos("fault"), "fault")
        pool = named.get(item["where"]["pool"])
        scope.find(written, item["where"]["pool"], place.pos("where", "pool"), "pool")
        if fact and pool:
            found.append(_fault(scope, item, place, fact, pool, spec["seed"]))
    return tuple(found)


def _fault(scope: Scope, item: Data, at: Place, fact: Fact, pool: Pool, seed: int) -> Fault:
    _possible(scope, item, at, fact, pool)
    wanted = _wanted(scope, item, at, fact)
    gpus = _gpus(scope, item, at, fact, pool)
    effects = {key: _said(fact.data["effects"][key], item, key) for key in wanted}
    turned = detectors.turned(scope, effects.get("conditions", {}), pool.detectors, fact.at)
    number = ",".join(map(str, gpus))
    event = effects.get("event")
    return Fault(
        name=item["name"],
        entry=fact.name,
        pool=pool.name,
        nodes=_nodes(scope, item, at, pool, seed),
        gpus=gpus,
        start=_start(scope, item, at, needs_stage=any(each.born for each in turned)),
        seconds=_seconds(scope, item["for"], at, "for") if "for" in item else None,
        conditions=tuple(_numbered(each.condition, number) for each in turned),
        taint=Taint(**effects["taint"]) if "taint" in effects else None,
        cordon=effects.get("cordon", False),
        labels=effects.get("labels", {}),
        device_taint=Taint(**effects["deviceTaint"]) if "deviceTaint" in effects and pool.slices else None,
        gone="deviceGone" in effects and pool.slices,
        devices=_devices(pool, gpus),
        allocatable=len(gpus) * effects.get("allocatable", 0) if pool.exposes_resource else 0,
        exit=_exit(scope, item, at, effects["exit"], number) if "exit" in effects else None,
        event=Event(event.get("type", "Warning"), event["reason"], _told(event["message"], number)) if event else None,
        at=at,
    )


def _possible(scope: Scope, item: Data, at: Place, fact: Fact, pool: Pool) -> None:
    if fact.data["of"] == "gpu" and pool.gpus is None and "gpus" not in scope.doubtful:
        message = f"{fact.name} is of a GPU, and the nodes of {pool.name} have none"
        scope.fail(at.pos("where", "pool"), "fault", message)
    if fact.data["of"] == "node" and "gpus" in item["where"]:
        scope.fail(at.key("where", "gpus"), "fault", f"{fact.name} is of a node, not of its GPUs", "leave it out")
    if pool.gpus and (why := _foreign(fact, pool.gpus)):
        scope.fail(at.pos("fault"), "fault", why, "take another fault, or another pool")


def _foreign(fact: Fact, gpus: Gpus) -> str:
    """Why the GPUs of a pool are not those that the fault is known of; empty if they are, or are one's own."""
    driver, made = fact.data.get("driver"), gpus.devices.devices[0].attributes.get("architecture")
    if gpus.model and driver not in {None, gpus.devices.driver}:
        return f"{fact.name} is of GPUs of {driver}, the pool has those of {gpus.devices.driver}"
    allowed = fact.data.get("architectures")
    if allowed and gpus.model and made not in allowed:
        return f"{fact.name} is not known of GPUs of {made}: it is of {quoted(allowed)}"
    return ""


def _wanted(scope: Scope, item: Data, at: Place, fact: Fact) -> list[str]:
    """The effects by default and by wish."""
    known, optional = fact.data["effects"], fact.data.get("optional", ())
    asked = item.get("effects", {})
    for key in asked:
        if key not in known:
            message = f'{fact.name} has no effect "{key}". available: {quoted(known)}'
            scope.fail(at.key("effects", key), "fault", message)
    found = [key for key in EFFECTS if key in known and asked.get(key, key not in optional)]
    if "deviceGone" not in found:
        return found
    if asked.get("deviceTaint"):
        message = "a device that is gone has no taint"
        hint = "leave one out; a taint with NoExecute first, and the device gone in a fault after it, ends its pods"
        scope.fail(at.key("effects", "deviceTaint"), "fault", message, hint)
    return [key for key in found if key != "deviceTaint"]


def _said(effect: Any, item: Data, key: str) -> Any:
    """What the entry says, with the word of the blueprint where that is more than whether."""
    word = item.get("effects", {}).get(key)
    return effect | {"effect": word} if isinstance(word, str) else effect


def _exit(scope: Scope, item: Data, at: Place, words: Data, gpus: str) -> Exit:
    """A Stage of pods sees no node, and so neither its age nor its label."""
    if "manual" not in item.get("start", {}):
        message = "a pod cannot see when the fault of its node begins: pods end when they are labelled by hand"
        scope.fail(at.key("effects", "exit"), "fault", message, "write start: {manual: true}, or a taint: NoExecute")
    return Exit(words["exitCode"], words["reason"], _told(words.get("message", ""), gpus))


def _gpus(scope: Scope, item: Data, at: Place, fact: Fact, pool: Pool) -> tuple[int, ...]:
    if fact.data["of"] != "gpu" or pool.gpus is None:
        return ()
    if "gpus" not in item["where"]:
        return (0,)
    held = ranges(scope, item["where"], "gpus", at.below("where"), pool.gpus.count)
    return tuple(sorted({index for first, last in held for index in range(first, last + 1)}))


def _devices(pool: Pool, gpus: tuple[int, ...]) -> tuple[str, ...]:
    """The names of GPUs as DRA devices, and of everything that they are cut into."""
    if pool.gpus is None or not pool.slices:
        return ()
    return tuple(device.name for device in pool.gpus.devices.devices if device.of in gpus)


def _nodes(scope: Scope, item: Data, at: Place, pool: Pool, seed: int) -> Ranges:
    where = item["where"]
    if not isinstance(where.get("nodes"), str):
        return ranges(scope, where, "nodes", at.below("where"), pool.count)
    share = float(where["nodes"].removesuffix("%"))
    number = round(pool.count * share / 100)
    if share > 100 or not number:
        message = f"{where['nodes']} of {pool.count} nodes is {'more than all' if share > 100 else 'none'}"
        scope.fail(at.pos("where", "nodes"), "fault", message, "name nodes by their indexes")
    names = (f"{pool.name}/{index}" for index in range(pool.count))
    return runs(lowest(seed, f"fault/{item['name']}", names, number))


def _start(scope: Scope, item: Data, at: Place, *, needs_stage: bool) -> Start:
    written = item.get("start", {})
    if "manual" in written:
        return Start("manual")
    if "at" in written:
        moment = datetime.fromisoformat(written["at"]).astimezone(UTC)
        return Start("at", ceil(moment.timestamp()))
    if "after" in written:
        return Start("after", _seconds(scope, written["after"], at, "start", "after"))
    # What the Stage that makes nodes Ready writes, and what ends, no node can be born with.
    return Start("after") if needs_stage or "for" in item else Start("birth")


def _seconds(scope: Scope, text: str, at: Place, *path: str) -> int:
    """Whole seconds, which is all that a node's creation is known to."""
    length = formats.milliseconds(text)
    if length % 1000 or (path == ("for",) and not length):
        scope.fail(at.pos(*path), "fault", f"{text} is not whole seconds, and at least one", "such as 30s")
    return ceil(length / 1000)


def _numbered(condition: Condition, gpus: str) -> Condition:
    return condition._replace(faulty=condition.faulty._replace(message=_told(condition.faulty.message, gpus)))


def _told(message: str, gpus: str) -> str:
    return message.replace("$gpu", gpus)


def marked(pools: tuple[Pool, ...], faults: tuple[Fault, ...]) -> tuple[Pool, ...]:
    """The pools with what faults do to their GPUs."""
    return tuple(_with_marks(pool, [fault for fault in faults if fault.pool == pool.name]) for pool in pools)


def _with_marks(pool: Pool, faults: list[Fault]) -> Pool:
    marks = tuple(
        Mark(fault.nodes, frozenset(fault.gpus), fault.device_taint, fault.at, later=fault.stages)
        for fault in faults
        if fault.of_slices
    )
    if pool.gpus is None or not marks:
        return pool
    devices = pool.gpus.devices
    return pool._replace(gpus=pool.gpus._replace(devices=devices._replace(marks=(*devices.marks, *marks))))
