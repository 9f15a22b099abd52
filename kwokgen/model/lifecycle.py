"""What happens to nodes or pods: a profile of the catalogue with its times, as KWOK Stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kwokgen.model.place import Place


class Time(NamedTuple):
    """Bounds of a time in milliseconds; equal where it is fixed."""

    shortest: int
    longest: int


class Stage(NamedTuple):
    """One KWOK Stage: its `spec` with all times filled in, and an object that its selector must match.

    `number` is its place among those of the catalogue's entry, of which a lifecycle may leave some out.
    """

    step: str
    number: int
    spec: Mapping[str, Any]
    sample: Mapping[str, Any]

    @property
    def succeeds(self) -> bool:
        """Whether it ends pods well."""
        return "phase: Succeeded" in self.spec["next"].get("statusTemplate", "")


class Lifecycle(NamedTuple):
    """A named lifecycle; `takes_run` says that pods may bring run times of their own, `entry` is the catalogue's."""

    name: str
    kind: str
    profile: str
    stages: tuple[Stage, ...]
    takes_run: bool
    needs_lease: bool
    builtin: bool
    entry: Place
    at: Place
