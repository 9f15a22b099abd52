"""What the scheduler of a minor is known to get wrong, where a blueprint would meet it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.device import Devices
from kwokgen.needs import used
from kwokgen.problem import Pos, Problem

ID = "known-fault"
SUMMARY = "The blueprint keeps clear of what the minor's scheduler is known to get wrong"


def check(cluster: Cluster) -> Iterator[Problem]:
    """A warning at each place that meets a fault of the catalogue."""
    for fault, summary in cluster.kubernetes.faults.items():
        for pos in _MEETS[fault](cluster) if fault in _MEETS else ():
            message = f"Kubernetes {cluster.kubernetes.minor}: {summary[0].lower()}{summary[1:]}"
            yield Problem(
                pos, ID, message, f"kwokgen catalog kubernetes {cluster.kubernetes.minor} has it as {fault}", "warning"
            )


def _short_slices(cluster: Cluster) -> Iterator[Pos]:
    """Several devices of pools that are cut into slices of fewer, with sharing by capacity turned on."""
    if "capacity-sharing" not in {feature for feature, _ in used(cluster)}:
        return
    for claim in cluster.claims:
        for request in claim.requests:
            for ask in request.asks:
                several = ask.count is None or ask.count > 1
                lengths = [_shortest(cluster, each) for each in cluster.published if each.offered(ask.device_class)]
                if several and any(length < (ask.count or length + 1) for length in lengths if length):
                    yield ask.at.pos("count" if ask.count else "allocationMode")


def _shortest(cluster: Cluster, devices: Devices) -> int:
    """The devices of the shortest of several slices; 0 for a single one."""
    most = cluster.kubernetes.limits.devices_per_slice
    return 0 if len(devices.devices) <= most else len(devices.devices) % most or most


def _third_of_a_value(cluster: Cluster) -> Iterator[Pos]:
    """One request for three devices or more under a distinctAttribute."""
    for claim in cluster.claims:
        counts = {request.name: request.least for request in claim.requests}
        for constraint in claim.constraints:
            held = constraint.requests or tuple(counts)
            if constraint.distinct and any(counts.get(name, 0) > 2 for name in held):
                yield constraint.at.pos("distinctAttribute")


_MEETS: dict[str, Callable[[Cluster], Iterator[Pos]]] = {
    "short-slices-crash": _short_slices,
    "distinct-attribute-miscounted": _third_of_a_value,
}
"""Faults that a bundle alone can meet; those that need a bad pool meet none of ours, which are whole."""
