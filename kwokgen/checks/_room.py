"""How many pods of a workload there is room for on nodes where nothing else runs; never less than there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from kwokgen.model.amounts import worth
from kwokgen.model.claim import BY_CLASS, Claim, Request
from kwokgen.model.cluster import Cluster
from kwokgen.model.fault import Fault, Start
from kwokgen.model.pool import Pool
from kwokgen.model.ranges import stretches
from kwokgen.model.topology import Level, Topology
from kwokgen.model.workload import Workload

PODS = "pods"
CLOSING = frozenset({"Ready", "DiskPressure", "PIDPressure", "NetworkUnavailable"})
"""Conditions of a node for which the node lifecycle controller keeps pods off. With MemoryPressure some clusters do not:
https://github.com/kubernetes/kubernetes/blob/v1.37.0/plugin/pkg/admission/podtolerationrestriction/admission.go"""
Ground = tuple[str, Mapping[str, int]]
"""A place, and how many open nodes of each pool it has."""


class Room(NamedTuple):
    """What a pod asks for, and a node has, of a resource or of a device class, as quantities."""

    asked: str
    has: str

    @property
    def pods(self) -> int:
        """How many pods the node has enough of it for."""
        return int(worth(self.has) // worth(self.asked))


def rooms(cluster: Cluster, workload: Workload, pool: Pool) -> Mapping[str, Room]:
    """By resource, and by device class, the room on an empty node of a pool; each pod is one of the node's `pods`."""
    classes = {entry.resource: entry.name for entry in cluster.device_classes if entry.resource}
    wanted = of_claims(workload.claims)
    done = {PODS: Room("1", pool.machine.allocatable.get(PODS, "0"))}
    for name, amount in workload.requests.items():
        device_class = name.removeprefix(BY_CLASS) if name.startswith(BY_CLASS) else classes.get(name)
        if device_class:
            wanted[device_class] += int(worth(amount))
        elif worth(amount):
            done[name] = Room(amount, _left(cluster, pool, name))
    return done | dict(_by_class(cluster, pool, wanted, set(_whole_classes(workload.claims))))


def _left(cluster: Cluster, pool: Pool, resource: str) -> str:
    """What the node with the most of it has of a resource: all may be born with fewer GPUs."""
    amount = pool.machine.allocatable.get(resource, "0")
    if pool.gpus is None or pool.gpus.resource != resource:
        return amount
    fewer = [fault for fault in cluster.faults_of(pool) if _lasts(fault) and fault.steps[0].allocatable]
    found = stretches(pool.count, [fault.nodes for fault in fewer])
    lost = min(max((fewer[index].steps[0].allocatable for index in held), default=0) for _, _, held in found)
    return f"{int(worth(amount)) - lost}" if lost else amount


def _whole_classes(claims: Iterable[Claim]) -> Iterator[str]:
    """The classes of which every pod has all devices of its node."""
    for request in _own_requests(claims):
        (ask, *others) = request.asks
        if not others and ask.count is None and not ask.selectors and not ask.model:
            yield ask.device_class


def of_claims(claims: Iterable[Claim]) -> Counter[str]:
    """For each class, how many devices every pod has for itself."""
    wanted: Counter[str] = Counter()
    for request in _own_requests(claims):
        if not request.first_available:
            wanted.update({ask.device_class: ask.count or 0 for ask in request.asks})
    return wanted


def _own_requests(claims: Iterable[Claim]) -> Iterator[Request]:
    """What every pod has for itself, and not to watch."""
    for claim in claims:
        for request in claim.requests if not claim.shared and not claim.of_gang else ():
            if not request.admin:
                yield request


def _by_class(
    cluster: Cluster, pool: Pool, wanted: Mapping[str, int], whole: Collection[str]
) -> Iterator[tuple[str, Room]]:
    """Devices that several claims can have, or that are beside the nodes, are not counted."""
    beside = {offer.name for network in cluster.network_devices for offer in network.devices.offers}
    for name, count in wanted.items():
        offered = [device for each in pool.had for device in each.offered(name)]
        derived = any(each.offered(name) for each in cluster.published)
        asked = len(offered) if name in whole else count
        if asked and derived and name not in beside and not any(device.policies for device in offered):
            yield name, Room(f"{asked}", f"{len(offered)}")


def grounds(cluster: Cluster, workload: Workload) -> tuple[Ground, ...]:
    """The places of the level that all of its pods must be within, each with how many open nodes of a pool it has.

    Empty where they may be anywhere. Kueue has all on nodes of one pool, so that there a place is several.
    """
    # A place that goes unsaid holds nobody back.
    topology = cluster.topology if "placement" in cluster.queues.system.words else None
    level = topology.level(workload.placement.within) if topology and workload.placement else None
    if topology is None or level is None or not (workload.placement and workload.placement.required):
        return ()
    one = cluster.queues.place and cluster.queues.system.form == "kueue"
    done: dict[tuple[str, str], dict[str, int]] = {}
    for pool in workload.pools:
        closed = _closed(cluster, pool, topology, level)
        for place, nodes in topology.held(level, pool.name).items():
            done.setdefault((place, pool.name if one else ""), {})[pool.name] = nodes - closed[place]
    return tuple((place, nodes) for (place, _), nodes in done.items())


def open_nodes(cluster: Cluster, pool: Pool) -> int:
    """How many nodes of a pool take pods that tolerate its own taints: some are born with a fault that keeps them off."""
    return pool.count - sum(last + 1 - first for first, last in _closed_ranges(cluster, pool))


def _closed(cluster: Cluster, pool: Pool, topology: Topology, level: Level) -> Counter[str]:
    """How many of the others stand in each place of a level."""
    leaf = topology.seats[pool.name].leaf
    indexes = (index for first, last in _closed_ranges(cluster, pool) for index in range(first, last + 1))
    return Counter(level.places[level.of[leaf(index)]] for index in indexes)


def _closed_ranges(cluster: Cluster, pool: Pool) -> Iterator[tuple[int, int]]:
    closing = [fault.nodes for fault in cluster.faults_of(pool) if _closes(fault)]
    return ((first, last) for first, last, held in stretches(pool.count, closing) if held)


def _closes(fault: Fault) -> bool:
    step = fault.steps[0]
    tainted = step.taint is not None and step.taint.effect != "PreferNoSchedule"
    said = any(condition.type in CLOSING for condition in step.conditions)
    return _lasts(fault) and (step.cordon or tainted or said)


def _lasts(fault: Fault) -> bool:
    return fault.start in (Start("birth"), Start("after")) and fault.steps[0].end is None
