"""How the devices of one pool of DRA are cut into slices that a minor takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from kwokgen.model import ranges
from kwokgen.model.device import CounterSet, Device, Devices, Listed
from kwokgen.model.pool import Pool
from kwokgen.model.target import Kubernetes

UNLIMITED = 1_000_000
Item = TypeVar("Item")


class Slice(NamedTuple):
    """What one ResourceSlice holds."""

    counter_sets: tuple[CounterSet, ...] = ()
    devices: tuple[Device, ...] = ()


def slices(kubernetes: Kubernetes, devices: Devices) -> tuple[Slice, ...]:
    """The slices in order, of a node that every mark of `devices` is for."""
    lost = {index for mark in devices.marks if mark.lost for index in mark.devices}
    left = [device for device in devices.devices if device.of not in lost]
    limits = kubernetes.limits
    most = limits.devices_per_advanced_slice if _advanced(devices, left) else limits.devices_per_slice
    if not devices.counter_sets:
        return tuple(Slice(devices=chunk) for chunk in _chunks(left, most))
    used = {device.counter_set for device in left}
    sets = [entry for entry in devices.counter_sets if entry.name in used]
    groups = _groups(left)
    if not kubernetes.own_counters:
        # One GPU a slice, as its counters can be used in its slice only.
        return tuple(Slice((held,), group) for held, group in zip(sets, groups, strict=True))
    own = [Slice(counter_sets=chunk) for chunk in _chunks(sets, limits.sets_per_slice or UNLIMITED)]
    return (*own, *(Slice(devices=chunk) for group in groups for chunk in _chunks(group, most)))


def stretches(pool: Pool) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """The first and the last node of each stretch of nodes that have the same marks, and the numbers of these."""
    return ranges.stretches(pool.count, (mark.nodes for each in pool.published for mark in each.marks))


def _advanced(devices: Devices, left: Sequence[Device]) -> bool:
    tainted = {index for mark in devices.marks if mark.taint for index in mark.devices}
    return any(
        device.of in tainted
        or device.consumes
        or any(isinstance(value, Listed) for value in device.attributes.values())
        for device in left
    )


def _chunks(items: Sequence[Item], most: int) -> Iterator[tuple[Item, ...]]:
    for start in range(0, len(items), most):
        yield tuple(items[start : start + most])


def _groups(devices: Sequence[Device]) -> list[tuple[Device, ...]]:
    """By whole device."""
    done: dict[int, list[Device]] = {}
    for device in devices:
        done.setdefault(device.of, []).append(device)
    return [tuple(group) for group in done.values()]
