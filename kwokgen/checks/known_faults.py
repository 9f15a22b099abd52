"""What the scheduler of a minor is known to get wrong, where a blueprint would meet it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kwokgen.checks._devices import Need, meets, needs, of_class
from kwokgen.model.cluster import Cluster
from kwokgen.model.device import Device, Devices
from kwokgen.model.pool import Pool
from kwokgen.model.slices import Slice, slices, stretches
from kwokgen.needs import used
from kwokgen.problem import Pos, Problem

ID = "known-fault"
SUMMARY = "The blueprint keeps clear of what the minor's scheduler is known to get wrong"
Node = list[tuple[Devices, Slice]]
"""The slices of one node, with the devices that they are cut from."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """A warning at each place that meets a fault of the catalogue."""
    for fault, summary in cluster.kubernetes.faults.items():
        for pos in _MEETS[fault](cluster) if fault in _MEETS else ():
            message = f"Kubernetes {cluster.kubernetes.minor}: {summary[0].lower()}{summary[1:]}"
            yield Problem(
                pos, ID, message, f"kwokgen catalog kubernetes {cluster.kubernetes.minor} has it as {fault}", "warning"
            )


def _short_slices(cluster: Cluster) -> Iterator[Pos]:
    """Several devices at once, on a node that has them in slices of fewer, with sharing by capacity turned on."""
    if "capacity-sharing" in {feature for feature, _ in used(cluster)}:
        nodes = {pool.name: list(_sorts_of_node(cluster, pool)) for pool in cluster.pools}
        for need in needs(cluster):
            if any(_outrun(cluster, need, node) for pool in need.pools for node in nodes[pool.name]):
                yield need.pos


def _outrun(cluster: Cluster, need: Need, node: Node) -> bool:
    """Whether a device can be the n-th of a request and stand in a slice of less than n.

    The allocator takes the number of the device in the request for that in its slice:
    https://github.com/kubernetes/kubernetes/blob/v1.34.4/staging/src/k8s.io/dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go#L1295
    """
    found = [
        (len(held.devices), having) for devices, held in node if (having := _of_class(cluster, need, devices, held))
    ]
    there = sum(len(having) for _, having in found)
    # A shared device can be taken again by the request that has it.
    again = need.count is not None and any(device.policies for _, having in found for device in having)
    most = need.count if again else min(there, need.count or there)
    return any(length < (most or 0) for length, _ in found)


def _of_class(cluster: Cluster, need: Need, devices: Devices, held: Slice) -> list[Device]:
    names = {device.name for device in of_class(cluster, need.device_class, devices)}
    return [device for device in held.devices if device.name in names]


def _sorts_of_node(cluster: Cluster, pool: Pool) -> Iterator[Node]:
    """The slices that a node can use, for each stretch of nodes with the same marks."""
    shared = [network.devices for network in cluster.network_devices if meets(cluster, pool, network)]
    alike = {held: first for first, _, held in stretches(pool)}
    for first in alike.values():
        here = [*(devices.on(first) for devices in pool.published), *shared]
        yield [(devices, held) for devices in here for held in slices(cluster.kubernetes, devices)]


def _third_of_a_value(cluster: Cluster) -> Iterator[Pos]:
    """One request for three devices or more under a distinctAttribute."""
    for claim in cluster.claims:
        counts = {request.name: request.least for request in claim.requests}
        for constraint in claim.constraints:
            held = constraint.requests or tuple(counts)
            if constraint.distinct and any(counts.get(name.partition("/")[0], 0) > 2 for name in held):
                yield constraint.at.pos("distinctAttribute")


_MEETS: dict[str, Callable[[Cluster], Iterator[Pos]]] = {
    "short-slices-crash": _short_slices,
    "distinct-attribute-miscounted": _third_of_a_value,
}
"""Faults that a bundle alone can meet; those that need a bad pool meet none of ours, which are whole."""
