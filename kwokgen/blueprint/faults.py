"""Faults: what goes wrong with nodes of pools and with their GPUs, where, when, and how often."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import ceil

from kwokgen.blueprint import faultsteps, shares
from kwokgen.blueprint.faultsteps import Written, seconds
from kwokgen.blueprint.marks import ranges, runs
from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.draw import draws, lowest
from kwokgen.model.device import Mark
from kwokgen.model.fault import Fault, Repeat, Start
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool
from kwokgen.model.ranges import Ranges
from kwokgen.model.taint import Taint
from kwokgen.model.topology import Topology
from kwokgen.problem import unknown


def resolve(
    scope: Scope, spec: Data, at: Place, pools: tuple[Pool, ...], topology: Topology | None
) -> tuple[Fault, ...]:
    """Every fault that could be understood."""
    items = spec.get("faults", [])
    where = places(at, "faults", items)
    scope.distinct(items, where, "faults")
    written = {pool["name"]: True for pool in spec["pools"]}
    named = {pool.name: pool for pool in pools}
    found = []
    for item, place in zip(items, where, strict=True):
        steps = faultsteps.read(scope, item, place)
        pool = named.get(item["where"]["pool"])
        scope.find(written, item["where"]["pool"], place.pos("where", "pool"), "pool")
        if steps and pool:
            nodes = _nodes(scope, item, place, pool, topology, spec["seed"])
            fault = _fault(scope, steps, pool, nodes)
            found += [fault] if _understood(scope, place) else []
    return tuple(found)


def _understood(scope: Scope, at: Place) -> bool:
    """Whether its nodes and times are those that are meant: others could have an effect in common with another fault's."""
    below = (at.below(key) for key in ("where", "start", "repeat") if at.node.child(key))
    return scope.intact(at, *below)


def _fault(scope: Scope, written: Sequence[Written], pool: Pool, nodes: Ranges) -> Fault:
    item, at, _ = written[0]
    gpus = _gpus(scope, written, pool)
    steps, born = faultsteps.steps(scope, written, pool, gpus)
    return Fault(
        name=item["name"],
        pool=pool.name,
        nodes=nodes,
        gpus=gpus,
        devices=_devices(pool, gpus),
        start=_start(scope, written[0], needs_stage=not born),
        repeat=_repeat(scope, written, steps[-1].end),
        steps=steps,
        at=at,
    )


def _gpus(scope: Scope, written: Sequence[Written], pool: Pool) -> tuple[int, ...]:
    item, at, fact = written[0]
    of_gpu = any(step.of_gpu for step in written)
    if not of_gpu and "gpus" in item["where"]:
        message = f"{fact.name} is of a node, not of its GPUs"
        scope.fail(at.key("where", "gpus"), "fault", message, "leave it out")
    if not of_gpu or pool.gpus is None:
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


def _nodes(scope: Scope, item: Data, at: Place, pool: Pool, topology: Topology | None, seed: int) -> Ranges:
    where = item["where"]
    there = _standing(scope, where, at, pool, topology) if "place" in where else ((0, pool.count - 1),)
    if isinstance(where.get("nodes"), str):
        return _share(scope, item, at, pool, there, seed)
    if "place" in where and "nodes" in where:
        message = "the place says which nodes it is: indexes cannot say it as well"
        scope.fail(at.key("where", "nodes"), "fault", message, "leave one out, or write a share, such as 25%")
    return ranges(scope, where, "nodes", at.below("where"), pool.count) if "place" not in where else there


def _standing(scope: Scope, where: Data, at: Place, pool: Pool, topology: Topology | None) -> Ranges:
    """The nodes of a pool in a place of the tree."""
    pos, place = at.pos("where", "place"), where["place"]
    known = [name for level in topology.levels for name in level.places] if topology else []
    there = topology.ranges(place).get(pool.name, ()) if topology and place in known else ()
    if place not in known and "topology" not in scope.doubtful:
        scope.problems.append(unknown(pos, "place of the topology", place, known, code="reference"))
    elif not there and "topology" not in scope.doubtful:
        scope.fail(pos, "fault", f'no node of "{pool.name}" stands in {place}', "name another pool, or another place")
    return there


def _share(scope: Scope, item: Data, at: Place, pool: Pool, there: Ranges, seed: int) -> Ranges:
    written = item["where"]["nodes"]
    indexes = [index for first, last in there for index in range(first, last + 1)]
    number = shares.counted(written, len(indexes))
    if indexes and (message := shares.wrong(written, number, len(indexes), "nodes")):
        scope.fail(at.pos("where", "nodes"), "fault", message, "name nodes by their indexes")
    drawn = draws(seed, f"fault/{item['name']}/{pool.name}", pool.count)
    return runs([indexes[place] for place in lowest([drawn[index] for index in indexes], number)])


def _start(scope: Scope, first: Written, *, needs_stage: bool) -> Start:
    item, at, fact = first
    written = item.get("start", {})
    if "manual" in written:
        return Start("manual")
    if "at" in written:
        moment = datetime.fromisoformat(written["at"]).astimezone(UTC)
        return Start("at", ceil(moment.timestamp()))
    if "after" in written:
        return Start("after", seconds(scope, written["after"], at, "start", "after"))
    if first.gone:
        scope.fail(
            at.pos("fault"), "fault", f"no node is born with {fact.name}", "say when, such as start: {after: 1h}"
        )
    # What ends, no node can be born with.
    return Start("after") if needs_stage or "for" in item else Start("birth")


def _repeat(scope: Scope, written: Sequence[Written], end: int | None) -> Repeat | None:
    item, at, _ = written[0]
    if "repeat" not in item:
        return None
    every = seconds(scope, item["repeat"]["every"], at, "repeat", "every")
    if written[-1].gone:
        scope.fail(at.key("repeat"), "fault", "a node that is gone has nothing again", "leave it out")
    elif end is None:
        message = "what does not end does not begin again"
        scope.fail(at.key("repeat"), "fault", message, "say how long it lasts each time, such as for: 30s")
    elif every <= end:
        message = f"{item['repeat']['every']} is not longer than the {end} s that it lasts each time"
        scope.fail(at.pos("repeat", "every"), "fault", message, f"more than {end}s")
    return Repeat(every, item["repeat"].get("times"))


def marked(pools: tuple[Pool, ...], faults: tuple[Fault, ...]) -> tuple[Pool, ...]:
    """The pools with what faults do to their GPUs."""
    return tuple(_with_marks(pool, [fault for fault in faults if fault.pool == pool.name]) for pool in pools)


def _with_marks(pool: Pool, faults: list[Fault]) -> Pool:
    marks = tuple(
        Mark(fault.nodes, frozenset(fault.gpus), taint, fault.at, later=fault.stages)
        for fault in faults
        for taint in _of_devices(fault)
    )
    if pool.gpus is None or not marks:
        return pool
    devices = pool.gpus.devices
    return pool._replace(gpus=pool.gpus._replace(devices=devices._replace(marks=(*devices.marks, *marks))))


def _of_devices(fault: Fault) -> Iterable[Taint | None]:
    """The taints of its devices, those of which one takes another's place once, and None where they are gone."""
    taints = (step.device_taint for step in fault.steps if step.device_taint)
    gone = [None] if any(step.device_gone for step in fault.steps) else []
    return [*{(taint.key, taint.effect): taint for taint in taints}.values(), *gone]
