"""Claims: no more devices of a class than a node has, for a claim's devices are those that one node can use."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.claim import Claim, Request
from kwokgen.model.cluster import Cluster
from kwokgen.model.pool import Pool
from kwokgen.problem import Problem

ID = "claim-nodes"
SUMMARY = "Some node has as many devices of a class as a claim asks for"
WHOLE = True
WAITS = "a claim's devices are those of one node: its pods would wait for ever"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Counts that no node of the bundle can meet."""
    for claim in cluster.claims:
        # More than any claim may have is another rule's.
        if sum(request.least for request in claim.requests) <= cluster.kubernetes.limits.devices_per_claim:
            yield from _together(cluster, claim)
            for request in claim.requests:
                if request.first_available:
                    yield from _alternatives(cluster, request)


def _together(cluster: Cluster, claim: Claim) -> Iterator[Problem]:
    asks = [ask for request in claim.requests if not request.first_available for ask in request.asks]
    for name in dict.fromkeys(ask.device_class for ask in asks):
        same = [ask for ask in asks if ask.device_class == name]
        total, most = sum(ask.count or 0 for ask in same), _most(cluster, name)
        if most is not None and total > most:
            largest = max(same, key=lambda ask: ask.count or 0)
            yield Problem(largest.at.pos("count"), ID, _said(claim.name, total, name, most), WAITS)


def _alternatives(cluster: Cluster, request: Request) -> Iterator[Problem]:
    """An alternative that no node can meet is never the one that is had."""
    found = [(ask, _most(cluster, ask.device_class)) for ask in request.asks]
    above = [(ask, most) for ask, most in found if most is not None and (ask.count or 0) > most]
    for ask, most in above:
        message = _said(f"{request.name}/{ask.name}", ask.count or 0, ask.device_class, most)
        if len(above) == len(request.asks):
            yield Problem(ask.at.pos("count"), ID, message, WAITS)
        else:
            yield Problem(ask.at.pos("count"), ID, message, "this alternative is never the one", "warning")


def _said(who: str, count: int, name: str, most: int) -> str:
    return f'"{who}" asks for {count} devices of the class "{name}", no node has more than {most}'


def _most(cluster: Cluster, name: str) -> int | None:
    """The most devices of a class on a node; None where that is not known, or one device may be had twice.

    https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5075-dra-consumable-capacity
    """
    offered = [device for each in cluster.published for device in each.offered(name)]
    if not offered or any(device.policies for device in offered):
        return None
    of_nodes = (
        sum(len(each.offered(name)) for each in pool.had) + _network(cluster, pool, name) for pool in cluster.pools
    )
    return max(of_nodes, default=0)


def _network(cluster: Cluster, pool: Pool, name: str) -> int:
    """Devices beside the node; labels that choose among nodes may come from anywhere, and leave none out here."""
    reaching = (entry for entry in cluster.network_devices if not entry.pools or pool.name in entry.pools)
    return sum(len(entry.devices.offered(name)) for entry in reaching)
