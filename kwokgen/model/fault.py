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


class Repeat(NamedTuple):
    """That a fault begins again every so many seconds, `times` in all, None for ever."""

    every: int
    times: int | None


class Step(NamedTuple):
    """A part of a fault, an entry of the catalogue; what it does not do is empty or None.

    `begin` and `end` are seconds since the begin of the fault, None for never; `allocatable` is how many fewer of the
    pool's resource there are; `exit` is of pods that are labelled as the node is; `gone` is whether the node is deleted.
    """

    entry: str
    begin: int
    end: int | None
    conditions: tuple[Condition, ...]
    taint: Taint | None
    cordon: bool
    labels: Mapping[str, str]
    device_taint: Taint | None
    device_gone: bool
    allocatable: int
    exit: Exit | None
    event: Event | None
    gone: bool

    @property
    def effective(self) -> bool:
        """Whether anything is seen of it: all that follows the entry and the times."""
        return any(self[3:])

    @property
    def of_slices(self) -> bool:
        """Whether it changes DRA devices."""
        return self.device_gone or self.device_taint is not None

    def beside(self, other: Step) -> Step:
        """What it does that another does not do as well."""
        types = {condition.type for condition in other.conditions}
        return self._replace(
            conditions=tuple(each for each in self.conditions if each.type not in types),
            taint=_unlike(self.taint, other.taint),
            cordon=self.cordon and not other.cordon,
            labels={key: text for key, text in self.labels.items() if key not in other.labels},
            device_taint=_unlike(self.device_taint, other.device_taint),
            device_gone=self.device_gone and not other.device_gone,
            allocatable=0 if other.allocatable else self.allocatable,
        )


def _unlike(taint: Taint | None, other: Taint | None) -> Taint | None:
    """A taint that another does not take the place of."""
    return None if taint and other and (taint.key, taint.effect) == (other.key, other.effect) else taint


class Fault(NamedTuple):
    """A fault of `nodes` of a pool: steps that follow one another.

    `gpus` are their numbers on a node; `devices` are the names of those as DRA devices.
    """

    name: str
    pool: str
    nodes: Ranges
    gpus: tuple[int, ...]
    devices: tuple[str, ...]
    start: Start
    repeat: Repeat | None
    steps: tuple[Step, ...]
    at: Place

    @property
    def stages(self) -> bool:
        """Whether it comes or goes while the cluster runs; otherwise nodes are born with it."""
        return self.start.sort != "birth"

    @property
    def timed(self) -> bool:
        """Whether more than its start depends on the time."""
        return self.steps[0].end is not None

    @property
    def of_slices(self) -> bool:
        """Whether a step of it changes DRA devices."""
        return any(step.of_slices for step in self.steps)

    @property
    def exit(self) -> Exit | None:
        """How pods end with it."""
        return next((step.exit for step in self.steps if step.exit), None)

    @property
    def lasts(self) -> int | None:
        """The seconds from its begin to its last end, None for ever."""
        end = self.steps[-1].end
        if end is None or self.repeat is None:
            return end
        return None if self.repeat.times is None else self.repeat.every * (self.repeat.times - 1) + end

    @property
    def label(self) -> str:
        """The label of what it is for; as an annotation it says how far it is."""
        return f"kwokgen.io/fault-{self.name}"

    def holds(self, node: int) -> bool:
        """Whether a node has it."""
        return holds(self.nodes, node)
