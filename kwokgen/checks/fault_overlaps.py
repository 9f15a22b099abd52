"""Faults: no two at a time turn the same thing, nor what a pool has by itself, or the end of one would end the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import inf

from kwokgen.model.cluster import Cluster
from kwokgen.model.fault import Fault, Step
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool
from kwokgen.model.ranges import Ranges
from kwokgen.model.taint import Taint
from kwokgen.problem import Problem

ID = "fault-overlap"
SUMMARY = "Two faults that a node has at a time have no effect in common, nor has a fault one with its pool"


def check(cluster: Cluster) -> Iterator[Problem]:
    """The later of two faults in the blueprint, where one of them comes or goes."""
    for pool in cluster.pools:
        faults = cluster.faults_of(pool)
        for fault in faults:
            yield from _of_pool(pool, fault, [other.at for other in faults])
        for first, second in combinations(faults, 2):
            if (
                (first.stages or second.stages)
                and _meet(first.nodes, second.nodes)
                and (common := _shared(first, second))
            ):
                message = f'"{second.name}" and "{first.name}" share nodes and an effect: {common[0]}'
                hint = (
                    "the end of one would end the other: choose other nodes or times, or leave the effect out (effects)"
                )
                yield Problem(second.at.pos("where"), ID, message, hint)


def _of_pool(pool: Pool, fault: Fault, faults: Sequence[Place]) -> Iterator[Problem]:
    """What nodes or their GPUs have from birth, without any fault."""
    own, missing = {_called(taint) for taint in pool.taints}, set[int]()
    for mark in pool.gpus.devices.marks if pool.gpus and pool.slices else ():
        common = mark.devices & {*fault.gpus}
        if not common or any(mark.at is at for at in faults) or not _meet(mark.nodes, fault.nodes):
            continue
        if mark.taint:
            own |= {f"{_called(mark.taint)} of GPU {number}" for number in common}
        else:
            missing |= common
    for step in fault.steps:
        if same := own.intersection(_effects(fault, step)):
            message = f'nodes of "{pool.name}" have the {min(same)} without "{fault.name}"'
            hint = "its end would take it away: leave it out of the pool, or the effect out of the fault (effects)"
            yield Problem(fault.at.pos("where"), ID, message, hint)
        if step.of_slices and missing:
            message = f'GPU {min(missing)} is missing on nodes of "{pool.name}" that "{fault.name}" is of'
            yield Problem(fault.at.pos("where"), ID, message, "choose other nodes or GPUs")


def _called(taint: Taint) -> str:
    return f"taint {taint.key}:{taint.effect}"


def _meet(first: Ranges, second: Ranges) -> bool:
    return any(low <= other_high and other_low <= high for low, high in first for other_low, other_high in second)


def _shared(first: Fault, second: Fault) -> list[str]:
    """The effects that a step of each has, unless one is over before the other begins."""
    found: set[str] = set()
    for one, other in product(first.steps, second.steps):
        if not _apart(first, one, second, other):
            found |= set(_effects(first, one)) & set(_effects(second, other))
            if (one.device_gone and other.of_slices) or (other.device_gone and one.of_slices):
                # What is gone comes back as it went, with taints that have ended meanwhile.
                found |= {f"GPU {number}" for number in {*first.gpus} & {*second.gpus}}
    return sorted(found)


def _apart(first: Fault, one: Step, second: Fault, other: Step) -> bool:
    if first.start.sort != second.start.sort or first.start.sort not in {"after", "at"}:
        return False
    (_, end), (begin, _) = sorted((_time(first, one), _time(second, other)))
    return end <= begin


def _time(fault: Fault, step: Step) -> tuple[float, float]:
    """From the begin to the end of a step; a fault that is repeated has all of its steps in all of its time."""
    begin, end = (0, fault.lasts) if fault.repeat else (step.begin, step.end)
    return fault.start.seconds + begin, fault.start.seconds + (inf if end is None else end)


def _effects(fault: Fault, step: Step) -> Iterator[str]:
    yield from (f"condition {condition.type}" for condition in step.conditions)
    if step.taint:
        yield _called(step.taint)
    if step.cordon:
        yield "cordon"
    yield from (f"label {key}" for key in step.labels)
    if step.allocatable:
        yield "allocatable"
    if step.device_taint:
        yield from (f"{_called(step.device_taint)} of GPU {number}" for number in fault.gpus)
