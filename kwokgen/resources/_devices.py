"""The devices of one pool of DRA as its slices have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kwokgen.model.device import Attribute, CounterSet, Device, Devices, Listed, Policy, Uuid, Version
from kwokgen.model.slices import slices
from kwokgen.model.taint import Taint
from kwokgen.model.target import Kubernetes
from kwokgen.resources._common import taint
from kwokgen.series import Join, Slot

TAINTED = "2026-01-01T00:00:00Z"
"""The server fills in the time of each apply otherwise, and no apply finds nothing to change."""


class Part(NamedTuple):
    """The content of one slice."""

    counters: tuple[dict[str, Any], ...] = ()
    devices: tuple[dict[str, Any], ...] = ()


def parts(kubernetes: Kubernetes, devices: Devices, digest: str) -> tuple[Part, ...]:
    """The slices in order; `digest` makes uuids of this pool distinct from those of any other."""
    taints = {index: _taints(devices, index) for index in {device.of for device in devices.devices}}
    return tuple(
        Part(
            counters=tuple(map(_counters, each.counter_sets)),
            devices=tuple(_device(kubernetes, device, taints[device.of], digest) for device in each.devices),
        )
        for each in slices(kubernetes, devices)
    )


def _taints(devices: Devices, index: int) -> tuple[Taint, ...]:
    held = (mark for mark in devices.marks if not mark.later and index in mark.devices)
    return tuple(mark.taint for mark in held if mark.taint)


def _counters(entry: CounterSet) -> dict[str, Any]:
    return {"name": entry.name, "counters": _values(entry.counters)}


def _values(amounts: Mapping[str, str]) -> dict[str, Any]:
    return {name: {"value": value} for name, value in amounts.items()}


def _device(kubernetes: Kubernetes, device: Device, taints: tuple[Taint, ...], digest: str) -> dict[str, Any]:
    # Empty maps are dropped by the API server, and a second apply would write them anew.
    body: dict[str, Any] = {}
    if device.attributes:
        body["attributes"] = {name: attribute(value, digest) for name, value in device.attributes.items()}
    if device.capacity:
        body["capacity"] = {
            name: {"value": value} | _policy(device.policies.get(name)) for name, value in device.capacity.items()
        }
    if device.policies:
        body["allowMultipleAllocations"] = True
    if device.consumes:
        body["consumesCounters"] = [{"counterSet": device.counter_set, "counters": _values(device.consumes)}]
    if taints:
        body["taints"] = [taint(entry) | {"timeAdded": TAINTED} for entry in taints]
    if kubernetes.resource_api == "v1beta1":
        return {"name": device.name, "basic": body}
    return {"name": device.name, **body}


def _policy(policy: Policy | None) -> dict[str, Any]:
    if policy is None:
        return {}
    if policy.values:
        return {"requestPolicy": {"default": policy.default, "validValues": list(policy.values)}}
    bounds = {"min": policy.least, "max": policy.most, "step": policy.step}
    kept = {key: value for key, value in bounds.items() if value is not None}
    return {"requestPolicy": {"default": policy.default} | ({"validRange": kept} if kept else {})}


def attribute(value: Attribute, digest: str) -> dict[str, Any]:
    """An attribute with the key of its sort."""
    if isinstance(value, Version):
        return {"version": value.text}
    if isinstance(value, Listed):
        return {value.sort: list(value.values)}
    if isinstance(value, Uuid):
        return {"string": _uuid(value, digest)}
    if isinstance(value, bool):
        return {"bool": value}
    return {"int": value} if isinstance(value, int) else {"string": value}


def _uuid(value: Uuid, digest: str) -> Join:
    """Only the node's index is a slot: a hash a node costs more than its slice."""
    fixed = f"{value.prefix}{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-"
    return Join((fixed, Slot("hex", "hex"), f"{value.number:04x}"))
