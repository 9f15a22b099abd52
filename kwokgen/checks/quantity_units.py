"""Quantities whose unit is legal and surely not meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kwokgen.formats import quantity
from kwokgen.model.amounts import spelt
from kwokgen.model.cluster import Cluster
from kwokgen.model.place import Place
from kwokgen.problem import Problem

ID = "quantity-unit"
SUMMARY = "Memory and storage are whole bytes; pods and extended resources are counted"
BYTES = ("memory", "ephemeral-storage")


def check(cluster: Cluster) -> Iterator[Problem]:
    """Fractions of what has none."""
    for pool in cluster.pools:
        for section in ("machine", "capacity"):
            yield from _amounts(pool.at.below(section), pool.machine.capacity)
        for devices in (*((pool.gpus.devices,) if pool.gpus else ()), *pool.others):
            written = devices.devices[0].capacity if devices.devices else {}
            yield from _fractions(devices.at.below("capacity"), written)
    for workload in cluster.parts:
        yield from _amounts(workload.at.below("container", "resources"), workload.container.requests)
        for index, container in enumerate(workload.init_containers):
            yield from _amounts(workload.at.below("initContainers", index, "resources"), container.requests)


def _amounts(at: Place, quantities: Mapping[str, str]) -> Iterator[Problem]:
    yield from _fractions(at, quantities)
    for name in quantities:
        written = at.raw(name)
        value = quantity(written) if written and (name == "pods" or "/" in name) else None
        if value is not None and value != value.to_integral_value():
            yield Problem(at.pos(name), ID, f'"{written}" of {name} is not a whole number')


def _fractions(at: Place, quantities: Mapping[str, str]) -> Iterator[Problem]:
    for name in BYTES:
        written = at.raw(name)
        value = quantity(written) if written and name in quantities else None
        if value is None or value == value.to_integral_value():
            continue
        unit = written[-1]
        hint = (
            f'did you mean "{written[:-1]}M" or "{written[:-1]}Mi"?' if unit == "m" else "write a whole number of bytes"
        )
        yield Problem(at.pos(name), ID, f'"{written}" of {name} is {spelt(value)} bytes', hint, "warning")
