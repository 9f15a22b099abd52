"""Pools: machines and GPUs of the catalogue, with what the blueprint writes over them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from ipaddress import IPv4Address, IPv4Network

from kwokgen import formats
from kwokgen.blueprint import devices, numa
from kwokgen.blueprint.detectors import watched
from kwokgen.blueprint.gpus import Bare, resolve_gpus
from kwokgen.blueprint.scope import Data, Scope, places, quantities
from kwokgen.model.amounts import worth
from kwokgen.model.device import Devices
from kwokgen.model.gpu import Gpus
from kwokgen.model.lifecycle import Lifecycle
from kwokgen.model.place import Place
from kwokgen.model.pool import Machine, NamePattern, Pool
from kwokgen.model.taint import FAKE_TAINT, Taint

FIRST_ADDRESS = IPv4Address("10.128.0.0")
POOL_PREFIX = 15
"""A pool owns 2^17 addresses, so that the addresses of one do not follow from the size of another."""
MOST_POOLS = 64
PODS = "110"
"""The kubelet's own default of pods a node."""


def resolve(scope: Scope, spec: Data, at: Place, lifecycles: tuple[Lifecycle, ...]) -> tuple[Pool, ...]:
    """Every pool that could be understood."""
    items = spec["pools"]
    where = places(at, "pools", items)
    scope.distinct(items, where, "pools")
    pools = [
        _pool(scope, item, place, number, lifecycles)
        for number, (item, place) in enumerate(zip(items, where, strict=True))
    ]
    if not all(pools):
        scope.doubtful.add("pools")
    return tuple(pool for pool in pools if pool)


def _pool(scope: Scope, item: Data, at: Place, number: int, lifecycles: tuple[Lifecycle, ...]) -> Pool | None:
    bare = _machine(scope, item, at)
    named = {lifecycle.name: lifecycle for lifecycle in lifecycles}
    wanted = item.get("lifecycle", lifecycles[0].name)
    lifecycle = scope.find(named, wanted, at.pos("lifecycle"), "lifecycle of nodes")
    addresses = _addresses(scope, item, at, number)
    zoned = numa.placed(scope, item, at, bare) if bare else None
    gpus = resolve_gpus(scope, item, at, zoned) if zoned else None
    others = devices.others(scope, item, at, bare.pci if bare else ())
    _distinct_drivers(scope, gpus if item["expose"] == "dra" else None, others)
    if (gpus is None and "gpus" in item) or len(others) != len(item.get("devices", ())):
        scope.doubtful.add("pools")
    if bare is None or zoned is None or lifecycle is None or addresses is None:
        return None
    machine = _with_resource(scope, _joined(bare, gpus), gpus, item, at)
    return Pool(
        name=item["name"],
        number=number,
        count=item["count"],
        names=NamePattern.read(item.get("nodeName", item["name"] + "-{index}")),
        machine=machine,
        gpus=gpus,
        others=others,
        exposes_resource=item["expose"] == "extended-resource",
        addresses=addresses,
        lifecycle=lifecycle,
        default_lifecycle=lifecycle is lifecycles[0],
        labels=item.get("labels", {}),
        annotations=item.get("annotations", {}),
        taints=(*([FAKE_TAINT] if item["fakeTaint"] else []), *(Taint(**taint) for taint in item["taints"])),
        operator_labels=item["gpuOperatorLabels"],
        detectors=watched(scope, item, at),
        numa=numa.resolve(scope, item, at, machine, gpus, zoned),
        at=at,
    )


def _joined(bare: Bare, gpus: Gpus | None) -> Machine:
    """The machine; with other GPUs than its own, no NVLink leads out of it."""
    own = gpus is not None and bare.gpus is not None and gpus.model == bare.gpus["model"]
    return bare.machine if own else bare.machine._replace(nvlink=0)


def _distinct_drivers(scope: Scope, gpus: Gpus | None, others: tuple[Devices, ...]) -> None:
    """A node's devices of one driver are one pool of DRA."""
    seen = {gpus.devices.driver} if gpus else set()
    for each in others:
        if each.driver in seen:
            message = f"the nodes have devices of {each.driver} already"
            scope.fail(each.at.pos("driver"), "devices", message, "one list of devices a driver")
        seen.add(each.driver)


def _machine(scope: Scope, item: Data, at: Place) -> Bare | None:
    changes = quantities(item.get("capacity", {}), at.below("capacity"))
    if isinstance(item["machine"], dict):
        capacity = {"pods": PODS} | quantities(item["machine"], at.below("machine"))
        for name in changes:
            scope.fail(at.key("capacity", name), "override", "the machine is written out: put its capacity there")
        machine = Machine(name="", arch=item.get("arch", "amd64"), capacity=capacity, allocatable=capacity, labels={})
        return Bare(machine, None, (), at)
    return _catalogued(scope, item, at, changes)


def _catalogued(scope: Scope, item: Data, at: Place, changes: Mapping[str, str]) -> Bare | None:
    fact = scope.fact("machines", item["machine"], at.pos("machine"), "machine")
    if fact is None:
        return None
    own = quantities(fact.data["capacity"], fact.at.below("capacity"))
    for name, value in changes.items():
        if own.get(name) == value:
            scope.warn(
                at.pos("capacity", name), "override", f"{item['machine']} has {name}: {value} by itself", "leave it out"
            )
    if item.get("arch") == fact.data["arch"]:
        scope.warn(at.pos("arch"), "override", f"{item['machine']} is {fact.data['arch']} by itself", "leave it out")
    capacity = own | dict(changes)
    reserved = quantities(fact.data.get("reserved", {}), fact.at.below("reserved"))
    machine = Machine(
        name=item["machine"],
        arch=item.get("arch", fact.data["arch"]),
        capacity=capacity,
        allocatable=_allocatable(scope, capacity, reserved, at, fact.at),
        labels=fact.data.get("labels", {}),
        nvlink=fact.data.get("nvlinkMachines", 0),
    )
    return Bare(machine, fact.data.get("gpus"), tuple(fact.data.get("pci", ())), fact.at)


def _allocatable(
    scope: Scope, capacity: Mapping[str, str], reserved: Mapping[str, str], at: Place, entry: Place
) -> dict[str, str]:
    done = dict(capacity)
    for name, kept in reserved.items():
        left = worth(capacity.get(name, "0")) - worth(kept)
        if left < 0:
            asked = at.pos("capacity", name) if at.raw("capacity", name) else entry.pos("reserved", name)
            scope.fail(asked, "capacity", f"the machine's own reserve of {name} is {kept}, above its capacity")
            continue
        done[name] = _in_unit(left, capacity[name], kept)
    return done


def _in_unit(left: Decimal, *like: str) -> str:
    """A difference in the binary family if both of its parts were."""
    if all(text.endswith("i") for text in like) and left % 1024 == 0:
        return formats.canonical(f"{left / 1024:f}Ki")
    return formats.canonical(f"{left:f}")


def _with_resource(scope: Scope, machine: Machine, gpus: Gpus | None, item: Data, at: Place) -> Machine:
    if gpus is None:
        return machine
    key = ("machine", gpus.resource) if isinstance(item["machine"], dict) else ("capacity", gpus.resource)
    if gpus.resource in machine.capacity:
        message = f"{gpus.resource} stands in the capacity and comes with the GPUs as well"
        scope.fail(
            at.key(*map(str, key)),
            "gpus",
            message,
            "a scheduler would see the GPUs twice; leave it out of the capacity",
        )
    if item["expose"] != "extended-resource":
        return machine
    if gpus.resource is None:
        if scope.intact(at.below("gpus")):
            hint = "add gpus.resource, such as example.com/gpu"
            scope.fail(at.pos("expose"), "gpus", "the driver names no extended resource", hint)
        return machine
    extra = {gpus.resource: str(gpus.counted)}
    return machine._replace(capacity=dict(machine.capacity) | extra, allocatable=dict(machine.allocatable) | extra)


def _addresses(scope: Scope, item: Data, at: Place, number: int) -> IPv4Network | None:
    if "addresses" in item:
        network = IPv4Network(item["addresses"])
        if network.num_addresses < item["count"]:
            message = f"{network} has {network.num_addresses} addresses for {item['count']} nodes"
            scope.fail(at.pos("addresses"), "addresses", message, "choose a larger network")
        return network
    if number >= MOST_POOLS:
        message = f"only the first {MOST_POOLS} pools have addresses of their own"
        scope.fail(at.pos(), "addresses", message, "give this pool addresses: such as 172.16.0.0/16")
        return None
    return IPv4Network((int(FIRST_ADDRESS) + (number << (32 - POOL_PREFIX)), POOL_PREFIX))
