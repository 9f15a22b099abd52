"""Devices and claims: no more taints, counters, selectors and parameters than the API server takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from kwokgen.model.claim import Claim
from kwokgen.model.cluster import Cluster
from kwokgen.model.device import Devices, Opaque
from kwokgen.model.place import Place
from kwokgen.model.ranges import stretches
from kwokgen.model.target import Limits
from kwokgen.problem import Problem

ID = "device-limit"
SUMMARY = "Taints and counters of devices, selectors of claims, and parameters for drivers, keep to the API's limits"
MOST_PARAMETERS = 10_240
MOST_CONFIG = 32
"""DeviceConfigMaxSize: https://pkg.go.dev/k8s.io/api/resource/v1#pkg-constants ."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """What is above a limit."""
    for devices in cluster.published:
        yield from _taints(devices, cluster.kubernetes.limits)
        if devices.counter_sets:
            yield from _counters(devices, cluster.kubernetes.limits)
    for entry in cluster.device_classes:
        yield from _parameters(entry.config, entry.at)
    for claim in cluster.claims:
        yield from _parameters(claim.config, claim.at)
        yield from _written_and_derived(claim, cluster.kubernetes.limits.selectors_per_request)


def _taints(devices: Devices, limits: Limits) -> Iterator[Problem]:
    """At the last of those that one device has."""
    count = 1 + max((last for mark in devices.marks for _, last in mark.nodes), default=0)
    for numbers in dict.fromkeys(held for _, _, held in stretches(count, [mark.nodes for mark in devices.marks])):
        held = [mark for number, mark in enumerate(devices.marks) if mark.taint and number in numbers]
        for index in sorted({index for mark in held for index in mark.devices}):
            those = [mark for mark in held if index in mark.devices]
            if limits.taints_per_device and len(those) > limits.taints_per_device:
                message = f"{len(those)} taints of one device, it may have {limits.taints_per_device}"
                yield Problem(those[-1].at.pos(), ID, message)
                return


def _counters(devices: Devices, limits: Limits) -> Iterator[Problem]:
    pos, counters = devices.at.pos("partitions"), len(devices.counter_sets[0].counters)
    most = limits.counters_per_set or limits.counters_per_slice
    if most and counters > most:
        yield Problem(
            pos, ID, f"{counters} counters of one device, slices and capacities of partitions; it may have {most}"
        )
        return
    consumed = sum(len(device.consumes) for device in devices.devices if device.of == 0)
    if limits.consumed_per_slice and consumed > limits.consumed_per_slice:
        message = (
            f"the partitions of one device consume {consumed} counters, a slice may have {limits.consumed_per_slice}"
        )
        yield Problem(pos, ID, message, "offer fewer profiles, or begin them at fewer slices")
    parts = sum(device.of == 0 for device in devices.devices)
    if limits.counters_per_slice and parts > limits.devices_per_advanced_slice:
        message = f"one device is {parts} partitions, which stand in one slice of {limits.devices_per_advanced_slice}"
        yield Problem(pos, ID, message, "offer fewer profiles, or begin them at fewer slices")


def _written_and_derived(claim: Claim, most: int | None) -> Iterator[Problem]:
    """What a claim has by itself beside what is written, whose own number the schema holds."""
    if len(claim.config) > MOST_CONFIG:
        message = f"{len(claim.config)} parameters for drivers with those of sharing, a claim may have {MOST_CONFIG}"
        yield Problem(claim.at.pos("config"), ID, message)
    for ask in (ask for request in claim.requests for ask in request.asks):
        if most is not None and len(ask.selectors) > most:
            message = f"{len(ask.selectors)} selectors with those of model and profile, a request may have {most}"
            yield Problem(ask.at.pos("selectors"), ID, message, "join some of them by &&")


def _parameters(config: Sequence[Opaque], at: Place) -> Iterator[Problem]:
    for index, entry in enumerate(config):
        size = len(json.dumps(entry.parameters, separators=(",", ":")).encode())
        if size > MOST_PARAMETERS:
            pos = at.pos("config", index, "parameters")
            yield Problem(pos, ID, f"{size} bytes of parameters, a driver may be given {MOST_PARAMETERS}")
