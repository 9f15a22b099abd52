"""Faults: no two at a time turn the same thing, or the end of one would end the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from math import inf

from kwokgen.model.cluster import Cluster
from kwokgen.model.fault import Fault, Step
from kwokgen.problem import Problem

ID = "fault-overlap"
SUMMARY = "Two faults that a node has at a time have no effect in common"


def check(cluster: Cluster) -> Iterator[Problem]:
    """The later of two faults in the blueprint, where one of them comes or goes."""
    for pool in cluster.pools:
        for first, second in combinations(cluster.faults_of(pool), 2):
            if (first.stages or second.stages) and _meet(first, second) and (common := _shared(first, second)):
                message = f'"{second.name}" and "{first.name}" share nodes and an effect: {common[0]}'
                hint = (
                    "the end of one would end the other: choose other nodes or times, or leave the effect out (effects)"
                )
                yield Problem(second.at.pos("where"), ID, message, hint)


def _meet(first: Fault, second: Fault) -> bool:
    return any(
        low <= other_high and other_low <= high for low, high in first.nodes for other_low, other_high in second.nodes
    )


def _shared(first: Fault, second: Fault) -> list[str]:
    """The effects that a step of each has, unless one is over before the other begins."""
    found: set[str] = set()
    for one, other in product(first.steps, second.steps):
        if not _apart(first, one, second, other):
            found |= set(_effects(first, one)) & set(_effects(second, other))
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
        yield f"taint {step.taint.key}:{step.taint.effect}"
    if step.cordon:
        yield "cordon"
    yield from (f"label {key}" for key in step.labels)
    if step.allocatable:
        yield "allocatable"
    if step.device_taint:
        yield from (f"taint {step.device_taint.key} of GPU {number}" for number in fault.gpus)
    if step.device_gone:
        yield from (f"GPU {number} is gone" for number in fault.gpus)
