"""Queues: how the jobs of a cluster share its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from kwokgen.model.place import Place

Form = Literal["default", "kueue", "volcano", "yunikorn", "kai"]


class Trouble(NamedTuple):
    """What a system is known to get wrong; a job that meets what it `refuses` never runs as asked."""

    summary: str
    refuses: bool


class System(NamedTuple):
    """What shares a cluster among queues; `words` are what of queues it can say, `kinds` its apiVersions by kind."""

    name: str
    form: Form
    release: str
    scheduler: str | None
    namespace: str | None
    kinds: Mapping[str, str]
    words: frozenset[str]
    faults: Mapping[str, Trouble]


class Quota(NamedTuple):
    """What a queue has of a pool, as canonical quantities by resource; of the `rest` it has all that there is.

    `borrowed` is the most that it may have beyond, by resource of `amounts`; None is without limit.
    """

    pool: str
    amounts: Mapping[str, str]
    rest: Mapping[str, str]
    borrowed: Mapping[str, str] | None
    at: Place

    @property
    def all(self) -> Mapping[str, str]:
        """The amount of every resource."""
        return {**self.amounts, **self.rest}


class Preemption(NamedTuple):
    """Whose jobs make way: those of the same queue, and those of the cohort that have borrowed."""

    within_queue: str
    within_cohort: str


class Queue(NamedTuple):
    """A queue; a weight of None is the system's own."""

    name: str
    cohort: str | None
    quotas: tuple[Quota, ...]
    lends: bool
    weight: int | None
    preemption: Preemption
    at: Place


class Cohort(NamedTuple):
    """Queues, or cohorts, that lend each other what they do not use."""

    name: str
    parent: str | None
    weight: int | None
    at: Place


class Queues(NamedTuple):
    """Every queue; `classes` is the resource that devices of a DeviceClass are counted as."""

    system: System
    cohorts: tuple[Cohort, ...]
    queues: tuple[Queue, ...]
    classes: Mapping[str, str]
    at: Place

    def named(self, name: str | None) -> Queue | None:
        """The queue of a name."""
        return next((queue for queue in self.queues if queue.name == name), None)

    def root(self, cohort: str) -> str:
        """The cohort that holds a cohort and all that are beside it."""
        parents = {each.name: each.parent for each in self.cohorts}
        seen = {cohort}
        while (parent := parents.get(cohort)) and parent not in seen:
            seen.add(parent)
            cohort = parent
        return cohort
