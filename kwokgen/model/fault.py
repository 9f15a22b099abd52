"""Faults: what goes wrong with some nodes of a pool, when, and what a cluster sees of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from kwokgen.model.place import Place
from kwokgen.model.ranges import Ranges, holds
from kwokgen.model.taint import Taint


class Words(NamedTuple):
    """What a condition says."""

    reason: str
    message: str


class Condition(NamedTuple):
    """A node condition that a fault turns; `fault` is the status that means trouble."""

    type: str
    fault: str
    healthy: Words
    faulty: Words

    @property
    def well(self) -> str:
        """The status while all is well."""
        return "False" if self.fault == "True" else "True"


class Event(NamedTuple):
    """An event about a node."""

    type: str
    reason: str
    message: str


class Exit(NamedTuple):
    """How the containers of a pod end."""

    exit_code: int
    reason: str
    message: str


class Start(NamedTuple):
    """When a fault begins; `seconds` are counted from a node's creation, or of Unix time where `at`."""

    sort: Literal["birth", "after", "at", "manual"]
    seconds: int = 0


class Fault(NamedTuple):
    """A fault of `nodes` of a pool; what it does not do is empty or None.

    `seconds` is how long it lasts, None for ever; `devices` are the names of DRA devices that `device_taint` is put
    on, or that are `gone` from their slices; `gpus` are their numbers on a node; `allocatable` is how many fewer of the pool's resource there are; `exit` is of
    pods that are labelled as the node is.
    """

    name: str
    entry: str
    pool: str
    nodes: Ranges
    gpus: tuple[int, ...]
    start: Start
    seconds: int | None
    conditions: tuple[Condition, ...]
    taint: Taint | None
    cordon: bool
    labels: Mapping[str, str]
    device_taint: Taint | None
    gone: bool
    devices: tuple[str, ...]
    allocatable: int
    exit: Exit | None
    event: Event | None
    at: Place

    @property
    def stages(self) -> bool:
        """Whether it comes or goes while the cluster runs; otherwise nodes are born with it."""
        return self.start.sort != "birth"

    @property
    def of_slices(self) -> bool:
        """Whether it changes DRA devices."""
        return self.gone or self.device_taint is not None

    @property
    def label(self) -> str:
        """The label of what it is for; as an annotation it says how far it is."""
        return f"kwokgen.io/fault-{self.name}"

    def holds(self, node: int) -> bool:
        """Whether a node has it."""
        return holds(self.nodes, node)
