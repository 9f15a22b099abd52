"""What happens to nodes or pods: a profile of the catalogue with its times, as KWOK Stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kwokgen.model.place import Place


class Stage(NamedTuple):
    """One KWOK Stage: its `spec` with all times filled in, and an object that its selector must match."""

    step: str
    spec: Mapping[str, Any]
    sample: Mapping[str, Any]

    @property
    def succeeds(self) -> bool:
        """Whether it ends pods well."""
        return "phase: Succeeded" in self.spec["next"].get("statusTemplate", "")


class Lifecycle(NamedTuple):
    """A named lifecycle; `takes_run` says that pods may bring run times of their own, `entry` is the catalogue's.

    `ready` are the shortest and the longest time from a node's creation to Ready, in milliseconds; None is at once.
    """

    name: str
    kind: str
    profile: str
    stages: tuple[Stage, ...]
    takes_run: bool
    needs_lease: bool
    ready: tuple[int, int] | None
    builtin: bool
    entry: Place
    at: Place

    @property
    def heartbeat(self) -> int:
        """The longest that nodes without leases are left alone, in milliseconds; 0 where a clock does as well."""
        delays = (stage.spec.get("delay", {}) for stage in self.stages)
        return (
            0 if self.needs_lease else max((delay.get("jitterDurationMilliseconds", 0) for delay in delays), default=0)
        )

    @property
    def drawn(self) -> bool:
        """Whether each node has a time of its own until it is Ready."""
        return self.ready is not None and self.ready[0] < self.ready[1]
