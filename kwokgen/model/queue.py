"""Queues: how the jobs of a cluster share its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from kwokgen.model.amounts import total
from kwokgen.model.place import Place
from kwokgen.model.quota import DEVICES, Stock

Form = Literal["default", "kueue", "volcano", "yunikorn", "kai"]


class Trouble(NamedTuple):
    """What a system is known to get wrong; a job that meets what it `refuses` never runs as asked."""

    summary: str
    refuses: bool


class Guarantee(NamedTuple):
    """Whose jobs a system never preempts, and lets borrow nothing: those of a `priority` or a higher one.

    Where pods have the `label`, its `value` alone counts.
    """

    priority: int
    label: str
    value: str


class System(NamedTuple):
    """What shares a cluster among queues; `words` are what of queues it can say, `kinds` its apiVersions by kind.

    `needs` is what else a cluster must have, in words; `reserved` are names of queues of its own. `resources` are all
    that it has quotas of, None where that is any.
    """

    name: str
    form: Form
    release: str
    scheduler: str | None
    namespace: str | None
    needs: tuple[str, ...]
    reserved: tuple[str, ...]
    kinds: Mapping[str, str]
    words: frozenset[str]
    resources: frozenset[str] | None
    guarantee: Guarantee | None
    faults: Mapping[str, Trouble]

    def counts(self, resource: str) -> bool:
        """Whether it has quotas of a resource."""
        if resource.endswith(DEVICES):
            return "claims" in self.words
        return self.resources is None or resource in self.resources


class Quota(NamedTuple):
    """What a queue has of a pool, as canonical quantities by resource; of the `rest` it has all that there is.

    `borrowed` is the most that it may have beyond, by resource of `amounts`; None is without limit. `uncounted` are
    resources of which the blueprint has an amount, and the system no quotas.
    """

    pool: str
    amounts: Mapping[str, str]
    rest: Mapping[str, str]
    borrowed: Mapping[str, str] | None
    uncounted: tuple[str, ...]
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

    @property
    def total(self) -> dict[str, str]:
        """Its quotas by resource, over all pools."""
        return {name: total(quota.amounts.get(name, "0") for quota in self.quotas) for name in self._names}

    @property
    def most(self) -> dict[str, str]:
        """The same with what it may borrow; without what has no limit."""
        return {
            name: total(amount for quota in self.quotas for amount in _bounds(quota, name))
            for name in self._names
            if all(quota.borrowed is not None for quota in self.quotas if name in quota.amounts)
        }

    @property
    def _names(self) -> dict[str, None]:
        return dict.fromkeys(name for quota in self.quotas for name in quota.amounts)


def _bounds(quota: Quota, resource: str) -> tuple[str, str]:
    return quota.amounts.get(resource, "0"), (quota.borrowed or {}).get(resource, "0")


class Cohort(NamedTuple):
    """Queues, or cohorts, that lend each other what they do not use."""

    name: str
    parent: str | None
    weight: int | None
    at: Place


class Queues(NamedTuple):
    """Every queue, and every cohort after the one that holds it.

    `classes` is the resource that devices of a DeviceClass are counted as, `stock` how many there are.
    """

    system: System
    cohorts: tuple[Cohort, ...]
    queues: tuple[Queue, ...]
    classes: Mapping[str, str]
    stock: Stock
    at: Place

    @property
    def form(self) -> Form:
        """That of what shares the cluster: of the system, and Kubernetes' own where there are no queues."""
        return self.system.form if self.queues else "default"

    @property
    def place(self) -> bool:
        """Whether the system finds the places of the jobs, and not Kubernetes' own scheduler."""
        return self.form != "default" and "placement" in self.system.words

    def named(self, name: str | None) -> Queue | None:
        """The queue of a name."""
        return next((queue for queue in self.queues if queue.name == name), None)

    def path(self, name: str) -> str:
        """A queue from the root on, through its cohorts."""
        queue = self.named(name)
        above = self.above(queue.cohort) if queue and queue.cohort else []
        return ".".join(["root", *reversed(above), name])

    def within(self, cohort: str) -> tuple[Queue, ...]:
        """The queues of a cohort, and of those that it holds."""
        return tuple(queue for queue in self.queues if queue.cohort and cohort in self.above(queue.cohort))

    def above(self, cohort: str) -> list[str]:
        """A cohort and those that hold it, the topmost last."""
        return chain(self.cohorts, cohort)


def chain(cohorts: Iterable[Cohort], cohort: str) -> list[str]:
    """A cohort and those that hold it, the topmost last."""
    parents = {each.name: each.parent for each in cohorts}
    done = [cohort]
    while (parent := parents.get(done[-1])) and parent not in done:
        done.append(parent)
    return done
