"""Values of devices: amounts belong under capacity, where claims can compare them; strings fit 64 bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.device import Attribute, Devices, Listed
from kwokgen.problem import Pos, Problem

ID = "device-value"
SUMMARY = "Attributes are not amounts, strings fit 64 bytes, a device has at most 32 attributes and capacities"
AMOUNT = re.compile(r"[0-9.]+[KMGTPE]i?")
MOST_BYTES = 64


def check(cluster: Cluster) -> Iterator[Problem]:
    """Attributes and capacities that claims cannot use, or that no device may have."""
    for devices in cluster.published:
        for name, values in _values(devices).items():
            yield from _attribute(devices.at.pos("attributes", name), name, values)
        yield from _number(cluster, devices)


def _values(devices: Devices) -> dict[str, list[Attribute]]:
    """Every value of each attribute that was written."""
    found: dict[str, list[Attribute]] = {}
    section = devices.at.node.child("attributes")
    written = section.value if section and isinstance(section.value, dict) else {}
    for device in devices.devices:
        for name, value in device.attributes.items():
            if name in written:
                found.setdefault(name, []).extend(value.values if isinstance(value, Listed) else (value,))
    return found


def _attribute(pos: Pos, name: str, values: list[Attribute]) -> Iterator[Problem]:
    texts = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if isinstance(value, int)]
    if amount := next((text for text in texts if AMOUNT.fullmatch(text)), None):
        message = f'the attribute {name} is the text "{amount}": claims that compare amounts cannot see it'
        yield Problem(pos, ID, message, "put it under capacity", "warning")
    if any(len(text.encode()) > MOST_BYTES for text in texts):
        yield Problem(pos, ID, f"the attribute {name} is longer than {MOST_BYTES} bytes")
    if not all(-(2**63) <= number < 2**63 for number in numbers):
        yield Problem(pos, ID, f"the attribute {name} does not fit 64 bits")


def _number(cluster: Cluster, devices: Devices) -> Iterator[Problem]:
    limits = cluster.kubernetes.limits
    for device in devices.devices:
        total = len(device.attributes) + len(device.capacity)
        if total > limits.attributes_per_device:
            message = f"{total} attributes and capacities, a device may have {limits.attributes_per_device}"
            yield Problem(devices.at.pos("attributes"), ID, message)
            return
        values = sum(len(value.values) if isinstance(value, Listed) else 1 for value in device.attributes.values())
        if limits.values_per_device and values > limits.values_per_device:
            message = f"{values} values of attributes, a device may have {limits.values_per_device}"
            yield Problem(devices.at.pos("attributes"), ID, message)
            return
