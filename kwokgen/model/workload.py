"""Workloads: a number of equal jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kwokgen.model.amounts import worth
from kwokgen.model.claim import Claim
from kwokgen.model.failure import Failure, Unpulled
from kwokgen.model.length import Arrival, Length
from kwokgen.model.lifecycle import Lifecycle
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool
from kwokgen.model.taint import Taint
from kwokgen.model.template import Template


class Container(NamedTuple):
    """A container of a pod; `resources` are canonical quantities, extended ones included."""

    name: str
    image: str
    command: tuple[str, ...]
    requests: Mapping[str, str]
    limits: Mapping[str, str]


class Placement(NamedTuple):
    """That pods are all in one place of a level of the topology, which nodes tell by the label `key`.

    One that is not `required` is given up where no place has room.
    """

    within: str
    key: str
    required: bool


class Kind(NamedTuple):
    """A sort of workload; `needs` is what a cluster must have for it, beside Kubernetes.

    `waits` is what `kubectl wait` is told until jobs are done, `pod` the longest label that is made of a job's name and
    a pod's index, `letter` whether names begin with one, `systems` the queue systems that take it, None for all. Where `container` is
    not empty the main container is called so; `indexed` is whether pods know their index as those of an indexed Job do, `ends` whether
    they end by themselves, `selects` whether its pods are found by a label of theirs. `gangs` are the kinds of Kubernetes' own gangs
    that its pods can belong to, None for all. `least` is the least that a word may be, `queue_waits` what `kubectl wait` is told of the
    queues before jobs are applied. `roles` are those of its pods where none are written, of two the first has one pod; none where all pods
    are alike. Where it has `more_roles` the last may be several, of any name. `bare` is whether its objects are the pods
    themselves, `let_in` what Kueue holds back: the `object`, each of its `pods`, or all of them as a `group`.
    """

    name: str
    needs: str
    waits: str
    pod: str
    letter: bool
    container: str
    indexed: bool
    ends: bool
    selects: bool
    gangs: frozenset[str] | None
    least: Mapping[str, int]
    queue_waits: str
    roles: tuple[str, ...]
    more_roles: bool
    bare: bool
    let_in: str
    systems: frozenset[str] | None

    @property
    def leads(self) -> bool:
        """Whether one pod leads the others."""
        return len(self.roles) > 1


class Workload(NamedTuple):
    """`count` jobs of `pods` pods, `parallelism` of them at once, as a `gang` or one by one.

    `policies` are the fields of a JobSpec that say what it does with failed pods; `template` is its catalogue entry's.
    `queue` is the name of its queue, None where there is none. `roles` are its pods by their roles, where not all are alike: each is the
    workload as if there were only those of the `role`, but for `failures` and `unpulled`, which are the whole's.
    """

    name: str
    kind: Kind
    namespace: str
    count: int  # type: ignore[assignment]  # over the method of tuples
    pods: int
    parallelism: int
    gang: bool
    placement: Placement | None
    pools: tuple[Pool, ...]
    all_pools: bool
    tolerations: tuple[Taint, ...]
    claims: tuple[Claim, ...]
    container: Container
    init_containers: tuple[Container, ...]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    restart_policy: str
    suspend: bool
    policies: Mapping[str, Any]
    lifecycle: Lifecycle
    default_lifecycle: bool
    run: Length | None
    arrival: Arrival | None
    failures: tuple[Failure, ...]
    queue: str | None
    priority: int | None
    unpulled: tuple[Unpulled, ...]
    template: Template
    at: Place
    role: str = ""
    roles: tuple[Workload, ...] = ()

    @property
    def parts(self) -> tuple[Workload, ...]:
        """Its pods, so that those of each part are alike."""
        return self.roles or (self,)

    @property
    def pod_sets(self) -> tuple[int, ...]:
        """How many pods each template of its object makes at once; where one can be `apart`, that is so with roles only."""
        if self.roles or not self.kind.leads or self.pods == 1 or "apart" in self.template.conditions:
            return tuple(part.parallelism for part in self.parts)
        return 1, self.pods - 1

    @property
    def containers(self) -> tuple[tuple[Container, Place], ...]:
        """Every container of a pod, and where it is written."""
        own = [(each, self.at.below("initContainers", index)) for index, each in enumerate(self.init_containers)]
        return ((self.container, self.at.below("container")), *own)

    @property
    def requests(self) -> Mapping[str, str]:
        """What one pod asks for by resource, claims apart: init containers have ended before the main one starts."""
        done: dict[str, str] = {}
        for container, _ in self.containers:
            for name, amount in {**container.requests, **container.limits}.items():
                done[name] = max(done.get(name, "0"), amount, key=worth)
        return done
