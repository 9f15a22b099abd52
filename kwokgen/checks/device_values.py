"""Values of devices: amounts belong under capacity, where claims can compare them; strings fit 64 bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.gpu import Gpus
from kwokgen.model.pool import Pool
from kwokgen.problem import Problem

ID = "device-value"
SUMMARY = "Attributes are not amounts, strings fit 64 bytes, a device has at most 32 attributes and capacities"
AMOUNT = re.compile(r"[0-9.]+[KMGTPE]i?")
MOST_BYTES = 64


def check(cluster: Cluster) -> Iterator[Problem]:
    """Attributes and capacities that claims cannot use, or that no device may have."""
    for pool in cluster.pools:
        if pool.gpus and pool.slices:
            yield from _attributes(pool, pool.gpus)
            yield from _number(cluster, pool, pool.gpus)


def _attributes(pool: Pool, gpus: Gpus) -> Iterator[Problem]:
    for name, value in gpus.attributes.items():
        pos = pool.at.pos("gpus", "attributes", name)
        if isinstance(value, str) and AMOUNT.fullmatch(value):
            message = f'the attribute {name} is the text "{value}": claims that compare amounts cannot see it'
            yield Problem(pos, ID, message, "put it under capacity", "warning")
        if isinstance(value, str) and len(value.encode()) > MOST_BYTES:
            yield Problem(pos, ID, f"the attribute {name} is longer than {MOST_BYTES} bytes")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            yield Problem(pos, ID, f"the attribute {name} does not fit 64 bits")


def _number(cluster: Cluster, pool: Pool, gpus: Gpus) -> Iterator[Problem]:
    most = cluster.kubernetes.limits.attributes_per_device
    total = len(gpus.attributes) + len(gpus.capacity) + bool(gpus.identity) + 2 * bool(gpus.pci)
    if total > most:
        message = f"{total} attributes and capacities, a device may have {most}"
        yield Problem(pool.at.pos("gpus", "attributes"), ID, message)
