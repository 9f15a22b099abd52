"""Gangs within a level: some place of it has room for all pods that run at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal

from kwokgen.model.amounts import worth
from kwokgen.model.cluster import Cluster
from kwokgen.model.pool import Pool
from kwokgen.model.topology import Level, Topology
from kwokgen.model.workload import Workload
from kwokgen.needs import BY_CLASS
from kwokgen.problem import Problem

ID = "gang-place"
SUMMARY = "Some place of the level that a gang must be within has room for it, when nothing else runs"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """Gangs that no place holds; what is counted is never less than a place has."""
    topology = cluster.topology
    for workload in cluster.workloads:
        level = topology.level(workload.placement.within) if topology and workload.placement else None
        if topology and level and workload.placement and workload.placement.required:
            room = _room(cluster, topology, level, workload)
            place, most = max(room.items(), key=lambda entry: entry[1], default=("", 0))
            if most < workload.parallelism:
                message = f"{workload.parallelism} pods at once fit no {level.name}: the most is {most}, in {place}"
                pos = workload.at.pos("placement", "within")
                yield Problem(
                    pos, ID, message, "take a wider level, or fewer pods; as it is, the gang would wait for ever"
                )


def _room(cluster: Cluster, topology: Topology, level: Level, workload: Workload) -> Mapping[str, int]:
    """How many of its pods each place holds; Kueue has them all on nodes of one pool."""
    whole = cluster.queues.place and cluster.queues.system.form == "kueue"
    room: Counter[str] = Counter()
    for pool in workload.pools:
        each = _pods(cluster, workload, pool)
        found = {place: nodes * each for place, nodes in topology.held(level, pool.name).items()}
        room = room | Counter(found) if whole else room + Counter(found)
    return room


def _pods(cluster: Cluster, workload: Workload, pool: Pool) -> int:
    """How many of its pods an empty node of a pool holds at most."""
    has = {name: worth(amount) for name, amount in pool.machine.allocatable.items()}
    asked = {name: worth(amount) for name, amount in _requests(workload).items()}
    # A resource of a DeviceClass is no node's own: its devices are not counted here.
    by_dra = {entry.resource for entry in cluster.device_classes}
    own = {
        name: amount for name, amount in asked.items() if amount and not (name in by_dra or name.startswith(BY_CLASS))
    }
    rooms = [int(has.get(name, Decimal(0)) // amount) for name, amount in own.items()]
    return min([int(has.get("pods", 0)), *rooms, *_by_claims(cluster, workload, pool)])


def _requests(workload: Workload) -> Mapping[str, str]:
    return dict(workload.container.requests) | dict(workload.container.limits)


def _by_claims(cluster: Cluster, workload: Workload, pool: Pool) -> Iterator[int]:
    """For each class that each pod has devices of, how many pods a node has enough for."""
    wanted: Counter[str] = Counter()
    for claim in workload.claims:
        for request in claim.requests if not claim.shared and not claim.of_gang else ():
            if not request.first_available and not request.admin:
                wanted.update({ask.device_class: ask.count or 0 for ask in request.asks})
    beside = {offer.name for network in cluster.network_devices for offer in network.devices.offers}
    for name, count in wanted.items():
        offered = [device for each in pool.published for device in each.offered(name)]
        derived = any(each.offered(name) for each in cluster.published)
        if count and derived and name not in beside and not any(device.policies for device in offered):
            yield len(offered) // count
