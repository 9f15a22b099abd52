"""What the faults of a cluster do and when: births, moments of each node's life, moments of the calendar, and labels."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from math import ceil
from typing import Literal, NamedTuple

from kwokgen.model.cluster import Cluster
from kwokgen.model.fault import Fault, Step
from kwokgen.model.pool import Pool

Base = Literal["birth", "creation", "calendar", "hand"]
BASES: tuple[Base, ...] = ("birth", "creation", "calendar", "hand")
FEW = 3
"""Names of nodes that a line shows."""


class Moment(NamedTuple):
    """Something that happens to nodes; `seconds` are of a node's life, or of Unix time, `what` is in a few words.

    `fault` and `entry` are those of the blueprint and of the catalogue, or of the lifecycle that nodes become Ready by.
    It happens again `every` so many seconds, `times` in all, None for once and for ever; `command` is what a person
    types for it.
    """

    base: Base
    seconds: int
    fault: str
    entry: str
    nodes: int
    first: tuple[str, ...]
    what: tuple[str, ...]
    command: str = ""
    every: int | None = None
    times: int | None = None

    @property
    def time(self) -> str:
        """When it is, as people say it."""
        if self.base == "calendar":
            return datetime.fromtimestamp(self.seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        if self.base == "creation":
            return f"T+{_duration(self.seconds)}"
        return {"birth": "from birth", "hand": "by hand"}[self.base] + (
            f" +{_duration(self.seconds)}" if self.seconds else ""
        )

    @property
    def again(self) -> str:
        """How often it happens, as people say it; empty where that is once."""
        if self.every is None:
            return ""
        return f", every {_duration(self.every)}" + (f", {self.times} times" if self.times else "")


def timeline(cluster: Cluster) -> tuple[Moment, ...]:
    """Every moment in order; those by hand last, one fault after another."""
    pools = {pool.name: pool for pool in cluster.pools}
    found = [moment for pool in cluster.pools for moment in _joining(pool)]
    found += [moment for fault in cluster.faults for moment in _moments(fault, pools[fault.pool])]
    return tuple(sorted(found, key=lambda each: (BASES.index(each.base), 0 if each.base == "hand" else each.seconds)))


def _joining(pool: Pool) -> Iterator[Moment]:
    """When the first node of a pool is Ready that is not so at once."""
    if pool.lifecycle.ready is None:
        return
    shortest, longest = (ceil(bound / 1000) for bound in pool.lifecycle.ready)
    last = f", the last at T+{_duration(longest)}" if longest > shortest else ""
    first = tuple(pool.names.name(index) for index in range(min(FEW, pool.count)))
    lifecycle = pool.lifecycle
    yield Moment("creation", shortest, lifecycle.name, lifecycle.profile, pool.count, first, (f"Ready{last}",))


def _moments(fault: Fault, pool: Pool) -> Iterator[Moment]:
    base: Base = {"birth": "birth", "after": "creation", "at": "calendar", "manual": "hand"}[fault.start.sort]  # type: ignore[assignment]
    nodes = sum(last - first + 1 for first, last in fault.nodes)
    indexes = (index for first, last in fault.nodes for index in range(first, last + 1))
    first = tuple(pool.names.name(index) for index, _ in zip(indexes, range(FEW), strict=False))
    every, times = fault.repeat or (None, None)
    once = Moment(base, fault.start.seconds, fault.name, fault.steps[0].entry, nodes, first, ("recovers",))
    any_time = once._replace(every=every, times=times)
    for step in fault.steps:
        command = switched(fault, "on") if base == "hand" and not step.begin else ""
        what, seconds = tuple(effects(fault, step, pool)), fault.start.seconds + step.begin
        yield any_time._replace(seconds=seconds, entry=step.entry, what=what, command=command)
    if fault.exit:
        yield once._replace(what=(f"pods exit {fault.exit.exit_code}",), command=ended(fault))
    if step.end is not None:
        yield any_time._replace(seconds=fault.start.seconds + step.end, entry=step.entry)
    if base == "hand" and fault.lasts is None and not step.gone:
        yield once._replace(command=switched(fault, "off"))


def switched(fault: Fault, to: str) -> str:
    """The command that begins or ends a fault by hand."""
    kinds = "node,resourceslice" if fault.of_slices else "node"
    return f"kubectl label {kinds} -l {fault.label} {fault.label}={to} --overwrite"


def ended(fault: Fault) -> str:
    """The command that ends the pods of the nodes that have a fault by hand."""
    nodes = f"$(kubectl get node -l {fault.label}=on -o name)"
    pods = "kubectl label pod -A --field-selector spec.nodeName=${node#node/}"
    return f"for node in {nodes}; do {pods} {fault.label}=on --overwrite; done"


def effects(fault: Fault, step: Step, pool: Pool) -> Iterator[str]:
    """What is seen of a step of a fault, in a few words each."""
    for condition in step.conditions:
        yield f"{condition.type}={condition.fault}"
    if step.taint:
        yield f"taint {step.taint.key}:{step.taint.effect}"
    if step.cordon:
        yield "cordoned"
    yield from (f"label {key}={value}" for key, value in step.labels.items())
    if step.allocatable:
        yield f"{step.allocatable} {pool.resource} fewer"
    if step.device_taint:
        numbers = ",".join(map(str, fault.gpus))
        yield f"GPU {numbers}: taint {step.device_taint.key}:{step.device_taint.effect}"
    if step.device_gone:
        yield f"GPU {','.join(map(str, fault.gpus))} is gone"
    if step.gone:
        yield "deleted"
    if step.event and fault.stages:
        yield f"event {step.event.reason}"


def _duration(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    return (f"{hours}h" if hours else "") + f"{minutes}m{left:02d}s"
