"""Network devices: some node of the bundle can use them."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.device import NetworkDevices
from kwokgen.model.pool import Pool
from kwokgen.problem import Problem

ID = "network-nodes"
SUMMARY = "Nodes that network devices are for are there"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """Lists of devices that no node meets."""
    for network in cluster.network_devices:
        if not any(_meets(pool, network) for pool in cluster.pools):
            message = "no node of the bundle has these labels, so no pod can have the devices"
            yield Problem(network.at.pos("nodes", "labels"), ID, message, "labels: of a pool", "warning")


def _meets(pool: Pool, network: NetworkDevices) -> bool:
    fixed = {"kubernetes.io/arch": pool.machine.arch, "kubernetes.io/os": "linux", "kwokgen.io/pool": pool.name}
    operator = pool.gpus.labels if pool.gpus and pool.operator_labels else {}
    labels = fixed | dict(pool.machine.labels) | dict(operator) | dict(pool.labels)
    named = not network.pools or pool.name in network.pools
    return named and all(labels.get(key) == value for key, value in network.labels.items())
