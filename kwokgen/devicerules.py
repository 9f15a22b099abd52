"""Rules of devices that the API server and the scheduler have and the JSON Schemas have not.

https://github.com/kubernetes/kubernetes/blob/v1.37.2/pkg/apis/resource/validation/validation.go
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kwokgen.formats import FORMATS, is_key, is_label, is_label_value, is_quantity, is_semver, is_subdomain
from kwokgen.model.target import Kubernetes, Limits
from kwokgen.series import Document

Path = tuple[str | int, ...]
Finding = tuple[Path, str]
NODES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
VALUES = ("bool", "int", "string", "version", "bools", "ints", "strings", "versions")
EFFECTS = ("NoSchedule", "NoExecute", "None")
BINDING = ("bindingConditions", "bindingFailureConditions", "bindsToNode")


def slice_findings(document: Document, kubernetes: Kubernetes) -> Iterator[Finding]:
    """What is wrong with a ResourceSlice."""
    spec, limits = document["spec"], kubernetes.limits
    if len(spec["driver"]) > 63 or not is_subdomain(spec["driver"]):
        yield ("spec", "driver"), f'"{spec["driver"]}" is not a DNS subdomain of at most 63'
    if len([key for key in NODES if key in spec]) != 1:
        yield ("spec",), f"a slice has one of {', '.join(NODES)}"
    devices, sets = spec.get("devices", []), spec.get("sharedCounters", [])
    bodies = [device.get("basic", device) for device in devices]
    most = limits.devices_per_advanced_slice if any(map(_advanced, bodies)) else limits.devices_per_slice
    if len(devices) > most:
        yield ("spec", "devices"), f"{len(devices)} devices, a slice may have {most}"
    if devices and sets and kubernetes.own_counters:
        yield ("spec", "sharedCounters"), "counters and devices are in slices of their own from 1.35 on"
    yield from _sets(sets, limits)
    yield from named_once(devices, ("spec", "devices"))
    for index, (device, body) in enumerate(zip(devices, bodies, strict=True)):
        path: Path = ("spec", "devices", index, *(("basic",) if "basic" in device else ()))
        yield from _device(body, path, kubernetes)


def _advanced(body: Mapping[str, Any]) -> bool:
    listed = any(set(value) & {"bools", "ints", "strings", "versions"} for value in body.get("attributes", {}).values())
    return bool(body.get("taints") or body.get("consumesCounters") or listed)


def named_once(items: Sequence[Mapping[str, Any]], path: Path) -> Iterator[Finding]:
    """What is wrong with the names of a list's items, each a DNS label of its own."""
    names = [item["name"] for item in items]
    for index, name in enumerate(names):
        if not is_label(name):
            yield (*path, index, "name"), f'"{name}" is not {FORMATS["dns-label"].what}: {FORMATS["dns-label"].allowed}'
        if name in names[:index]:
            yield (*path, index, "name"), f'two are named "{name}"'


def _sets(sets: Sequence[Mapping[str, Any]], limits: Limits) -> Iterator[Finding]:
    path: Path = ("spec", "sharedCounters")
    yield from named_once(sets, path)
    total = sum(len(entry["counters"]) for entry in sets)
    if limits.sets_per_slice and len(sets) > limits.sets_per_slice:
        yield path, f"{len(sets)} counter sets, a slice may have {limits.sets_per_slice}"
    if limits.counters_per_slice and total > limits.counters_per_slice:
        yield path, f"{total} counters, a slice may have {limits.counters_per_slice}"
    for index, entry in enumerate(sets):
        yield from _counters(entry["counters"], (*path, index, "counters"), limits.counters_per_set)


def _counters(counters: Mapping[str, Any], path: Path, most: int | None) -> Iterator[Finding]:
    if most and len(counters) > most:
        yield path, f"{len(counters)} counters, a set may have {most}"
    for name, value in counters.items():
        if not is_label(name):
            yield (*path, name), f'"{name}" is not {FORMATS["dns-label"].what}: {FORMATS["dns-label"].allowed}'
        if not is_quantity(str(value["value"])):
            yield (*path, name), f'"{value["value"]}" is not {FORMATS["quantity"].what}'


def _device(body: Mapping[str, Any], path: Path, kubernetes: Kubernetes) -> Iterator[Finding]:
    limits = kubernetes.limits
    attributes, capacity = body.get("attributes", {}), body.get("capacity", {})
    if len(attributes) + len(capacity) > limits.attributes_per_device:
        total = len(attributes) + len(capacity)
        yield path, f"{total} attributes and capacities, a device may have {limits.attributes_per_device}"
    values = sum(_values(value) for value in attributes.values())
    if limits.values_per_device and values > limits.values_per_device:
        yield (*path, "attributes"), f"{values} values in all attributes, a device may have {limits.values_per_device}"
    yield from _names(attributes, (*path, "attributes"))
    yield from _names(capacity, (*path, "capacity"))
    for name, value in attributes.items():
        yield from _attribute(value, (*path, "attributes", name))
    for name, value in capacity.items():
        if not is_quantity(str(value["value"])):
            yield (*path, "capacity", name), f'"{value["value"]}" is not {FORMATS["quantity"].what}'
        if "requestPolicy" in value and not body.get("allowMultipleAllocations"):
            yield (*path, "capacity", name, "requestPolicy"), "only a device with allowMultipleAllocations has it"
    if set(BINDING) & body.keys():
        key = next(key for key in BINDING if key in body)
        yield (*path, key), "nobody sets conditions of a fake device: its pods would wait for ever"
    yield from _taints(body.get("taints", []), path, limits)
    yield from _consumed(body.get("consumesCounters", []), path, limits)


def _values(attribute: Mapping[str, Any]) -> int:
    return sum(len(value) if isinstance(value, list) else 1 for value in attribute.values())


def _names(named: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    for name in named:
        if not FORMATS["attribute"].test(name):
            yield (*path, name), f'"{name}" is not {FORMATS["attribute"].what}: {FORMATS["attribute"].allowed}'


def _attribute(value: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    if len([key for key in VALUES if key in value]) != 1:
        yield path, f"{len(value)} values, an attribute has one"
    for sort in ("string", "version", "strings", "versions"):
        texts = value.get(sort, [])
        for text in [texts] if isinstance(texts, str) else texts:
            if len(text.encode()) > 64:
                yield (*path, sort), "longer than 64 bytes"
            if sort.startswith("version") and not is_semver(text):
                yield (*path, sort), f'"{text}" is not {FORMATS["semver"].what}: {FORMATS["semver"].allowed}'


def _taints(taints: Sequence[Mapping[str, Any]], path: Path, limits: Limits) -> Iterator[Finding]:
    if limits.taints_per_device and len(taints) > limits.taints_per_device:
        yield (*path, "taints"), f"{len(taints)} taints, a device may have {limits.taints_per_device}"
    for index, taint in enumerate(taints):
        yield from taint_findings(taint, (*path, "taints", index))


def taint_findings(taint: Mapping[str, Any], path: Path, effects: Sequence[str] = EFFECTS) -> Iterator[Finding]:
    """What is wrong with the taint of a device, a rule, or with other effects a node."""
    key, effect = taint.get("key", ""), taint.get("effect", "")
    if not is_key(key):
        yield (*path, "key"), f'"{key}" is not the key of a taint'
    if not is_label_value(taint.get("value", "")):
        yield (*path, "value"), f'"{taint["value"]}" is not the value of a taint'
    if effect not in effects:
        yield (*path, "effect"), f'"{effect}" is not an effect: {", ".join(effects)}'


def _consumed(consumed: Sequence[Mapping[str, Any]], path: Path, limits: Limits) -> Iterator[Finding]:
    path = (*path, "consumesCounters")
    if limits.sets_per_device and len(consumed) > limits.sets_per_device:
        yield path, f"{len(consumed)} counter sets, a device may consume of {limits.sets_per_device}"
    if limits.counters_per_device:
        total = sum(len(entry["counters"]) for entry in consumed)
        if total > limits.counters_per_device:
            yield path, f"{total} counters, a device may consume {limits.counters_per_device}"
    for index, entry in enumerate(consumed):
        yield from _counters(entry["counters"], (*path, index, "counters"), limits.counters_per_set)


def pool_findings(documents: Sequence[Document]) -> Iterator[tuple[Document, Finding]]:
    """What is wrong between the slices of a pool, which stand together: the scheduler leaves such a pool out."""
    pools: dict[tuple[str, str], list[Document]] = {}
    for document in documents:
        if document["kind"] == "ResourceSlice":
            pools.setdefault((document["spec"]["driver"], document["spec"]["pool"]["name"]), []).append(document)
    for slices in pools.values():
        yield from _complete(slices)
        yield from _distinct(slices)
        yield from _consistent(slices)


def _complete(slices: list[Document]) -> Iterator[tuple[Document, Finding]]:
    generation = slices[0]["spec"]["pool"]["generation"]
    for document in slices:
        pool = document["spec"]["pool"]
        if pool["resourceSliceCount"] != len(slices):
            message = (
                f"it says {pool['resourceSliceCount']} slices and there are {len(slices)}: no device is handed out"
            )
            yield document, (("spec", "pool", "resourceSliceCount"), message)
        if pool["generation"] != generation:
            message = f"the slices of a pool have one generation, another has {generation}: no device is handed out"
            yield document, (("spec", "pool", "generation"), message)


def _distinct(slices: list[Document]) -> Iterator[tuple[Document, Finding]]:
    seen: set[str] = set()
    for document in slices:
        for index, device in enumerate(document["spec"].get("devices", [])):
            if device["name"] in seen:
                message = f'another slice of the pool has "{device["name"]}" as well: no device is handed out'
                yield document, (("spec", "devices", index, "name"), message)
        seen |= {device["name"] for device in document["spec"].get("devices", [])}


def _consistent(slices: list[Document]) -> Iterator[tuple[Document, Finding]]:
    sets = {entry["name"]: entry["counters"] for each in slices for entry in each["spec"].get("sharedCounters", [])}
    for document in slices:
        # A set that is missing is missing to all devices of a slice, and one mistake.
        found = next(_unknown(document, sets), None)
        if found:
            yield document, found


def _unknown(document: Document, sets: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    for index, device in enumerate(document["spec"].get("devices", [])):
        for entry in device.get("basic", device).get("consumesCounters", []):
            unknown = entry["counters"].keys() - sets.get(entry["counterSet"], {}).keys()
            if unknown:
                message = f'the pool has no counter "{min(unknown)}" in a set "{entry["counterSet"]}"'
                yield ("spec", "devices", index, "consumesCounters"), message
