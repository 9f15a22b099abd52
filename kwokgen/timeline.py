"""What the faults of a cluster do and when: births, moments of each node's life, moments of the calendar, and labels."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from kwokgen.model.cluster import Cluster
from kwokgen.model.fault import Fault
from kwokgen.model.pool import Pool

Base = Literal["birth", "creation", "calendar", "hand"]
BASES: tuple[Base, ...] = ("birth", "creation", "calendar", "hand")
FEW = 3
"""Names of nodes that a line shows."""


class Moment(NamedTuple):
    """Something that happens to nodes; `seconds` are of a node's life, or of Unix time, `what` is in a few words.

    `command` is what a person types for it.
    """

    base: Base
    seconds: int
    fault: str
    entry: str
    nodes: int
    first: tuple[str, ...]
    what: tuple[str, ...]
    command: str = ""

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


def timeline(cluster: Cluster) -> tuple[Moment, ...]:
    """Every moment in order; those by hand last."""
    pools = {pool.name: pool for pool in cluster.pools}
    found = [moment for fault in cluster.faults for moment in _moments(fault, pools[fault.pool])]
    return tuple(sorted(found, key=lambda moment: (BASES.index(moment.base), moment.seconds)))


def _moments(fault: Fault, pool: Pool) -> Iterator[Moment]:
    base: Base = {"birth": "birth", "after": "creation", "at": "calendar", "manual": "hand"}[fault.start.sort]  # type: ignore[assignment]
    nodes = sum(last - first + 1 for first, last in fault.nodes)
    indexes = (index for first, last in fault.nodes for index in range(first, last + 1))
    first = tuple(pool.names.name(index) for index, _ in zip(indexes, range(FEW), strict=False))
    begin = Moment(base, fault.start.seconds, fault.name, fault.entry, nodes, first, tuple(effects(fault, pool)))
    yield begin._replace(command=switched(fault, "on") if base == "hand" else "")
    if fault.exit:
        yield begin._replace(what=(f"pods exit {fault.exit.exit_code}",), command=ended(fault))
    if fault.seconds is not None:
        yield begin._replace(seconds=fault.start.seconds + fault.seconds, what=("recovers",))
    elif base == "hand":
        yield begin._replace(what=("recovers",), command=switched(fault, "off"))


def switched(fault: Fault, to: str) -> str:
    """The command that begins or ends a fault by hand."""
    kinds = "node,resourceslice" if fault.of_slices else "node"
    return f"kubectl label {kinds} -l {fault.label} {fault.label}={to} --overwrite"


def ended(fault: Fault) -> str:
    """The command that ends the pods of the nodes that have a fault by hand."""
    nodes = f"$(kubectl get node -l {fault.label}=on -o name)"
    pods = "kubectl label pod -A --field-selector spec.nodeName=${node#node/}"
    return f"for node in {nodes}; do {pods} {fault.label}=on --overwrite; done"


def effects(fault: Fault, pool: Pool) -> Iterator[str]:
    """What is seen of a fault, in a few words each."""
    for condition in fault.conditions:
        yield f"{condition.type}={condition.fault}"
    if fault.taint:
        yield f"taint {fault.taint.key}:{fault.taint.effect}"
    if fault.cordon:
        yield "cordoned"
    yield from (f"label {key}={value}" for key, value in fault.labels.items())
    if fault.allocatable:
        yield f"{fault.allocatable} {pool.resource} fewer"
    if fault.device_taint:
        numbers = ",".join(map(str, fault.gpus))
        yield f"GPU {numbers}: taint {fault.device_taint.key}:{fault.device_taint.effect}"
    if fault.gone:
        yield f"GPU {','.join(map(str, fault.gpus))} is gone"
    if fault.event and fault.stages:
        yield f"event {fault.event.reason}"


def _duration(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    return (f"{hours}h" if hours else "") + f"{minutes}m{left:02d}s"
