"""What happens to nodes or pods: a profile of the catalogue with its times, as KWOK Stages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from kwokgen.model.amounts import spelt
from kwokgen.model.place import Place


class Time(NamedTuple):
    """Bounds of a time in milliseconds; equal where it is fixed."""

    shortest: int
    longest: int


def in_seconds(milliseconds: int) -> str:
    """A length of time in seconds, as annotations and jq have it."""
    return spelt(Decimal(milliseconds) / 1000)


class Stage(NamedTuple):
    """One KWOK Stage: its `spec` with all times filled in, and an object that its selector must match.

    `number` is its place among those of the catalogue's entry, of which a lifecycle may leave some out; `seconds` is
    in jq how long it waits, the pod's own time or the drawn one included, and `longest` the most of it in milliseconds.
    """

    step: str
    number: int
    spec: Mapping[str, Any]
    sample: Mapping[str, Any]
    seconds: str = "0"
    longest: int = 0

    @property
    def sample_words(self) -> str:
        """What a message calls the sample."""
        return f'the sample of "{self.step}"'

    @property
    def templates(self) -> tuple[str, ...]:
        """All its Go templates."""
        action = self.spec["next"]
        patches = tuple(patch["template"] for patch in action.get("patches", ()))
        return patches or ((action["statusTemplate"],) if "statusTemplate" in action else ())

    @property
    def succeeds(self) -> bool:
        """Whether it ends pods well."""
        return self.writes_phase("Succeeded")

    def writes_phase(self, *phases: str) -> bool:
        """Whether it says one of the phases in so many words."""
        said = rf"\bphase:\s*[\"']?({'|'.join(phases)})\b"
        return any(re.search(said, template) for template in self.templates)


class Lifecycle(NamedTuple):
    """A named lifecycle; `takes_run` says that pods may bring run times of their own, `entry` is the catalogue's.

    `ready` is the time from a node's creation to Ready; None is at once.
    """

    name: str
    kind: str
    profile: str
    stages: tuple[Stage, ...]
    takes_run: bool
    needs_lease: bool
    ready: Time | None
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
