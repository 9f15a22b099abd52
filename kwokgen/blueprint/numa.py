"""NUMA nodes of a pool's nodes: which GPU is in which, and what of all else each of them has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from kwokgen.blueprint.gpus import Bare
from kwokgen.blueprint.scope import Data, Scope
from kwokgen.formats import PAGES
from kwokgen.model.amounts import shares, worth
from kwokgen.model.gpu import Gpus
from kwokgen.model.place import Place
from kwokgen.model.pool import Machine, Numa

WHOLE = ("ephemeral-storage", "pods")
"""Resources that are of no NUMA node."""
ATTRIBUTE = "resource.kubernetes.io/numaNode"


def placed(scope: Scope, item: Data, at: Place, bare: Bare) -> Bare:
    """The machine with the NUMA node of each GPU; notes where it has others than the pool says."""
    zones = _zones(item, bare)
    known = _known(bare)
    if "numa" in item and not zones:
        message = "how many NUMA nodes a node has is not known of the machine"
        scope.fail(at.pos("numa"), "numa", message, "write zones, such as zones: 2")
    elif "numa" in item and zones < known:
        message = f"the machine's GPUs are in {known} NUMA nodes, not {zones}"
        scope.fail(at.pos("numa", "zones"), "numa", message, f"leave it out, or write {known} or more")
    count = item.get("gpus", {}).get("count") or (bare.gpus or {}).get("count", 0)
    if not zones or not count or (bare.pci and len(bare.pci) < count):
        return bare
    slots = bare.pci or ({},) * count
    return bare._replace(pci=tuple({"numa": _of_gpu(index, count, zones), **slot} for index, slot in enumerate(slots)))


def _known(bare: Bare) -> int:
    return 1 + max((slot["numa"] for slot in bare.pci if "numa" in slot), default=-1)


def _zones(item: Data, bare: Bare) -> int:
    """How many there are; 0 where nobody says."""
    return item.get("numa", {}).get("zones") or (_known(bare) if "numa" in item else 0)


def _of_gpu(index: int, count: int, zones: int) -> int:
    """In equal parts, one after another; slots that are left free are in the last."""
    return min(index * zones // count, zones - 1)


def resolve(scope: Scope, item: Data, at: Place, machine: Machine, gpus: Gpus | None, bare: Bare) -> Numa | None:
    """What a node says of its NUMA nodes; None where no policy asks for it. The machine is as `placed` has it."""
    zones = _zones(item, bare)
    if not zones or "policy" not in item["numa"]:
        _silent(scope, item, at, gpus)
        return None
    resource = gpus.resource if gpus and item["expose"] == "extended-resource" else None
    held = Counter(_of_resource(gpus, bare, zones)) if gpus and resource else Counter()
    amounts = [
        {name: (f"{held[zone]}",) * 2 if name == resource else pairs[zone] for name, pairs in _shared(machine, zones)}
        for zone in range(zones)
    ]
    return Numa(tuple(amounts), item["numa"]["policy"], item["numa"]["scope"])


def _of_resource(gpus: Gpus, bare: Bare, zones: int) -> Iterator[int]:
    """The NUMA node of each of the extended resource: GPUs that are shared are several of it each."""
    for number in range(gpus.counted):
        index = number * gpus.count // gpus.counted
        slot = bare.pci[index] if index < len(bare.pci) else {}
        yield slot.get("numa", _of_gpu(index, gpus.count, zones))


def _silent(scope: Scope, item: Data, at: Place, gpus: Gpus | None) -> None:
    """Notes what would change nothing without a policy."""
    if "numa" not in item or "policy" in item["numa"] or (gpus is None and "gpus" in item):
        return
    devices = gpus.devices.devices if gpus and item["expose"] == "dra" else ()
    if not any(ATTRIBUTE in device.attributes for device in devices):
        message = "no device of the nodes says its NUMA node"
        scope.fail(at.key("numa"), "numa", message, "write policy, with which a NodeResourceTopology says it")
    if at.below("numa").raw("scope"):
        scope.fail(at.key("numa", "scope"), "numa", "scope is of a policy, and there is none", "write policy")


def _shared(machine: Machine, number: int) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """By resource, the capacity and the allocatable part of each NUMA node."""
    for name, amount in machine.capacity.items():
        if name not in WHOLE:
            has, free = (shares(each, number, _step(name)) for each in (amount, machine.allocatable.get(name, "0")))
            yield name, list(zip(has, free, strict=True))


def _step(resource: str) -> Decimal:
    """What cannot be parted: a thousandth of a CPU, and one page of the size that a resource is called by."""
    if resource.startswith(PAGES):
        return worth(resource.removeprefix(PAGES)) or Decimal(1)
    return Decimal("0.001") if resource == "cpu" else Decimal(1)
