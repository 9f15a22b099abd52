"""The cluster as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from kwokgen.model.claim import Claim, DeviceClass
from kwokgen.model.device import Devices, DeviceTaintRule, NetworkDevices
from kwokgen.model.fault import Fault
from kwokgen.model.instruments import Instrument, Observability
from kwokgen.model.lifecycle import Lifecycle
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool
from kwokgen.model.queue import Queues
from kwokgen.model.target import Kubernetes, Kwok
from kwokgen.model.topology import Topology
from kwokgen.model.workload import Workload

SHARD_VALUES = 60
"""A node's shard label is its index modulo 60, whatever the number of controllers: a controller selects the values
that leave its number when divided by theirs, so that neither a larger pool nor another controller changes a node."""
LEASE_RENEWALS = 4
"""How often KWOK renews a lease in its duration:
https://github.com/kubernetes-sigs/kwok/blob/v0.8.0/pkg/kwok/controllers/controller.go, renewInterval."""


class Namespace(NamedTuple):
    """A namespace of the bundle."""

    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    admin: bool
    at: Place


class Controller(NamedTuple):
    """The KWOK controllers; `lease_seconds` 0 is no leases."""

    run: Literal["deployment", "outside", "existing"]
    kwok: Kwok
    namespace: str
    shards: int
    crd: bool
    lease_seconds: int
    at: Place

    @property
    def renewal_seconds(self) -> float:
        """Between two renewals of a node's lease; 0 without leases."""
        return self.lease_seconds / LEASE_RENEWALS

    def shard_values(self, shard: int) -> tuple[str, ...]:
        """The values of the shard label whose nodes belong to the controller `shard`."""
        return tuple(str(value) for value in range(shard, SHARD_VALUES, self.shards))


class Patch(NamedTuple):
    """A change of rendered objects; `merge` is a JSON merge patch."""

    kind: str
    name: str | None
    namespace: str | None
    labels: Mapping[str, str]
    pool: str | None
    merge: Mapping[str, Any]
    at: Place


def published(pools: Iterable[Pool], network: Iterable[NetworkDevices]) -> tuple[Devices, ...]:
    """The DRA devices of pools by driver, and those of no node."""
    of_nodes = (devices for pool in pools for devices in pool.published)
    return (*of_nodes, *(entry.devices for entry in network))


class Cluster(NamedTuple):
    """Everything that a blueprint says, with nothing left to look up; `capacity` has Stages still to be made per pool."""

    name: str
    kubernetes: Kubernetes
    seed: int
    namespaces: tuple[Namespace, ...]
    controller: Controller
    lifecycles: tuple[Lifecycle, ...]
    capacity: Lifecycle | None
    topology: Topology | None
    pools: tuple[Pool, ...]
    network_devices: tuple[NetworkDevices, ...]
    device_taint_rules: tuple[DeviceTaintRule, ...]
    device_classes: tuple[DeviceClass, ...]
    claims: tuple[Claim, ...]
    queues: Queues
    workloads: tuple[Workload, ...]
    faults: tuple[Fault, ...]
    observability: Observability
    patches: tuple[Patch, ...]
    at: Place

    @property
    def published(self) -> tuple[Devices, ...]:
        """All its DRA devices, by pool and driver."""
        return published(self.pools, self.network_devices)

    @property
    def own_lifecycles(self) -> tuple[Lifecycle, ...]:
        """Those of the user's catalogue: built-in ones are the tests' to check."""
        every = (*self.lifecycles, *filter(None, [self.capacity]))
        return tuple(lifecycle for lifecycle in every if not lifecycle.builtin)

    def faults_of(self, pool: Pool) -> tuple[Fault, ...]:
        """The faults of a pool's nodes and of their GPUs."""
        return tuple(fault for fault in self.faults if fault.pool == pool.name)

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return sum(pool.count for pool in self.pools)

    def priority_class(self, value: int) -> str:
        """The name of the class of a priority."""
        return f"{self.name}-priority-{value if value >= 0 else f'minus-{-value}'}"

    @property
    def parts(self) -> tuple[Workload, ...]:
        """The pods of all workloads, so that those of each part are alike."""
        return tuple(part for workload in self.workloads for part in workload.parts)

    def queued(self, queue: str) -> tuple[Workload, ...]:
        """The pods of a queue's workloads, by their roles."""
        return tuple(part for part in self.parts if part.queue == queue)

    def home(self, queue: str) -> str | None:
        """The namespace that has jobs of this queue, and of no other."""
        homes = {workload.namespace for workload in self.queued(queue)}
        others = {workload.namespace for workload in self.workloads if workload.queue != queue}
        return homes.pop() if len(homes) == 1 and not homes & others else None

    @property
    def places_by_queue(self) -> bool:
        """Whether the queue system finds a place for some job: Kueue then does so for every job, asked or not.

        Flavors of one queue that name a topology beside others that do not would be closed to the jobs without placement.
        """
        return self.queues.place and any(workload.placement for workload in self.workloads)

    @property
    def own_gangs(self) -> bool:
        """Whether gangs are Kubernetes' own, and not those of another scheduler."""
        return not self.queues.queues or self.queues.system.scheduler is None

    @property
    def instruments(self) -> tuple[Instrument, ...]:
        """Those of its queue system, and those of any."""
        form = self.queues.system.form
        return tuple(each for each in self.observability.instruments if each.systems is None or form in each.systems)
