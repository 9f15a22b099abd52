"""Faults: no two at a time turn the same thing, or the end of one would end the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from kwokgen.model.cluster import Cluster
from kwokgen.model.fault import Fault
from kwokgen.problem import Problem

ID = "fault-overlap"
SUMMARY = "Two faults that a node has at a time have no effect in common"


def check(cluster: Cluster) -> Iterator[Problem]:
    """The later of two faults in the blueprint, where one of them comes or goes."""
    for pool in cluster.pools:
        for first, second in combinations(cluster.faults_of(pool), 2):
            if (first.stages or second.stages) and _meet(first, second) and not _apart(first, second):
                yield from _shared(first, second)


def _meet(first: Fault, second: Fault) -> bool:
    return any(
        low <= other_high and other_low <= high for low, high in first.nodes for other_low, other_high in second.nodes
    )


def _apart(first: Fault, second: Fault) -> bool:
    """Whether one is over before the other begins."""
    if first.start.sort != second.start.sort or first.start.sort not in {"after", "at"}:
        return False
    early, late = sorted((first, second), key=lambda fault: fault.start.seconds)
    return early.seconds is not None and early.start.seconds + early.seconds <= late.start.seconds


def _shared(first: Fault, second: Fault) -> Iterator[Problem]:
    common = sorted(set(_effects(first)) & set(_effects(second)))
    if common:
        message = f'"{second.name}" and "{first.name}" share nodes and an effect: {common[0]}'
        hint = "the end of one would end the other: choose other nodes or times, or leave the effect out (effects)"
        yield Problem(second.at.pos("where"), ID, message, hint)


def _effects(fault: Fault) -> Iterator[str]:
    yield from (f"condition {condition.type}" for condition in fault.conditions)
    if fault.taint:
        yield f"taint {fault.taint.key}:{fault.taint.effect}"
    if fault.cordon:
        yield "cordon"
    yield from (f"label {key}" for key in fault.labels)
    if fault.allocatable:
        yield "allocatable"
    if fault.device_taint:
        yield from (f"taint {fault.device_taint.key} of GPU {number}" for number in fault.gpus)
    if fault.gone:
        yield from (f"GPU {number} is gone" for number in fault.gpus)
