"""Failures: pods of a workload whose containers end with another exit code than 0, and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kwokgen.model.place import Place

ALL = "all"
NONE = "none"


class Failure(NamedTuple):
    """The failure `number` of a workload's list, `seconds` after its container has started.

    `marks` tell by job which of its completion indexes it is of: `1,3-5`, or ALL; a job that is not among them has none.
    `times` is how often an index, or a container that its pod restarts, may have failed before it no longer does; None is
    without end. `position` is the init container's place in the pod, None of the main container.
    """

    number: int
    marks: Mapping[int, str]
    container: str
    position: int | None
    seconds: int
    times: int | None
    exit_code: int
    reason: str
    message: str
    at: Place

    @property
    def order(self) -> tuple[int, int, int]:
        """Of several failures of one pod the first comes."""
        return (-1 if self.position is None else self.position, self.seconds, self.number)


class Unpulled(NamedTuple):
    """A failure of a workload's list whose pods cannot pull an image, for `seconds` or, with None, without end."""

    number: int
    marks: Mapping[int, str]
    seconds: int | None
    message: str
    at: Place
