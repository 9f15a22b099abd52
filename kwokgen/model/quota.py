"""What there is of a pool, and what pods take of it, by resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kwokgen.model.amounts import times, total
from kwokgen.model.claim import BY_CLASS
from kwokgen.model.pool import Pool
from kwokgen.model.workload import Workload

DEVICES = "/devices"
"""Ends the name of what devices of a DeviceClass are counted as."""


def of_class(device_class: str) -> str:
    """What the devices of a class are counted as."""
    return f"{device_class}{DEVICES}"


def gpus(pool: Pool) -> str | None:
    """What whole GPUs of a pool are counted as; None where it has none."""
    if pool.gpus is None or pool.exposes_resource:
        return pool.resource
    whole = (offer.name for offer in pool.gpus.devices.offers if offer.whole is not False)
    return next((of_class(name) for name in whole), None)


def resources(pool: Pool) -> tuple[str, ...]:
    """Everything that its nodes have amounts of."""
    return (*pool.machine.allocatable, *filter(None, [gpus(pool)]))


class Stock(NamedTuple):
    """How many devices of each class a node of each pool has: of `unsure` classes at most so many.

    `resources` are the classes of extended resources.
    """

    devices: Mapping[str, Mapping[str, int]]
    resources: Mapping[str, str]
    unsure: frozenset[str]

    def class_of(self, resource: str) -> str | None:
        """The class whose devices a resource counts; None where it counts something else."""
        for begins, ends in ((BY_CLASS, ""), ("", DEVICES)):
            if resource.startswith(begins) and resource.endswith(ends):
                return resource.removeprefix(begins).removesuffix(ends)
        return self.resources.get(resource)


def capacity(pool: Pool, resource: str, stock: Stock) -> str:
    """How much all nodes of a pool have together."""
    devices = stock.devices.get(stock.class_of(resource) or "", {}).get(pool.name, 0)
    return total(times(amount, pool.count) for amount in (pool.machine.allocatable.get(resource, "0"), f"{devices}"))


def asked(workload: Workload, classes: Mapping[str, str]) -> dict[str, str]:
    """What one pod takes: its containers' requests, and the devices of its own claims."""
    done = dict(workload.requests)
    for resource, count in _devices(workload, classes):
        done[resource] = total((done.get(resource, "0"), f"{count}"))
    return done


def _devices(workload: Workload, classes: Mapping[str, str]) -> Iterable[tuple[str, int]]:
    for claim in workload.claims:
        if not claim.shared and not claim.of_gang:
            for request in claim.requests:
                ask = request.asks[0]
                yield classes.get(ask.device_class, of_class(ask.device_class)), ask.count or 0
