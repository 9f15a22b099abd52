"""Network devices: some node of the bundle can use them."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.checks._devices import meets
from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "network-nodes"
SUMMARY = "Nodes that network devices are for are there"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """Lists of devices that no node meets."""
    for network in cluster.network_devices:
        if not any(meets(cluster, pool, network) for pool in cluster.pools):
            message = "no node of the bundle has these labels, so no pod can have the devices"
            yield Problem(network.at.pos("nodes", "labels"), ID, message, "labels: of a pool", "warning")
