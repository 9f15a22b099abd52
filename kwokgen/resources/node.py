"""Nodes: a pool is one shape, stamped for every index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.cluster import SHARD_VALUES, Cluster
from kwokgen.model.labels import of_node
from kwokgen.model.pool import Pool
from kwokgen.resources._common import metadata, taint
from kwokgen.series import Column, Document, Join, Run, Series, Shape, Slot

KIND = "Node"
ONCE = (
    *("addresses", "conditions", "config", "daemonEndpoints", "declaredFeatures", "features", "images", "nodeInfo"),
    *("phase", "runtimeHandlers", "volumesAttached", "volumesInUse"),
)
"""What a node's status has from its creation: an update keeps the status that is there, and no Stage writes these anew
as it does capacity. https://github.com/kubernetes/kubernetes/blob/v1.37.2/pkg/registry/core/node/strategy.go#L90"""
IMMUTABLE = (("spec", "providerID"), *(("status", part) for part in ONCE))
NODES_A_FILE = 2_500
NAME = Slot("name")
_SHARDS = tuple(str(value) for value in range(SHARD_VALUES))


def build(cluster: Cluster) -> Iterator[Series]:
    """A series a pool."""
    for pool in cluster.pools:
        yield Series(
            file=f"40-nodes-{pool.name}.yaml",
            runs=(Run(Shape((_node(cluster, pool),)), 0, pool.count - 1),),
            at=pool.at,
            by=__name__,
            columns=columns(pool),
            chunk=NODES_A_FILE,
            pool=pool.name,
        )


def columns(pool: Pool) -> dict[str, Column]:
    """What differs from node to node: its name, its shard label's value, its address."""
    before, width, after = pool.names.before, pool.names.width, pool.names.after
    first = int(pool.addresses.network_address)

    def address(index: int) -> str:
        number = first + index
        return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"

    return {
        "name": (lambda index: f"{before}{index:0{width}d}{after}")
        if width
        else (lambda index: f"{before}{index}{after}"),
        "shard": lambda index: _SHARDS[index % SHARD_VALUES],
        "address": address,
    }


def _node(cluster: Cluster, pool: Pool) -> Document:
    annotations = {"kwok.x-k8s.io/node": "fake", "node.alpha.kubernetes.io/ttl": "0"} | dict(pool.annotations)
    spec: dict[str, Any] = {"providerID": Join(("kwok://", NAME))}
    if pool.taints:
        spec["taints"] = [taint(entry) for entry in pool.taints]
    return {
        "apiVersion": "v1",
        "kind": KIND,
        "metadata": metadata(cluster, NAME, labels=of_node(pool, NAME, Slot("shard")), annotations=annotations),
        "spec": spec,
        "status": _status(cluster, pool),
    }


def _status(cluster: Cluster, pool: Pool) -> dict[str, Any]:
    """Both address types, or KWOK 0.8 deletes all; no conditions, or no Stage that makes a node Ready matches it."""
    return {
        "addresses": [
            {"type": "InternalIP", "address": Slot("address")},
            {"type": "Hostname", "address": NAME},
        ],
        "capacity": dict(pool.machine.capacity),
        "allocatable": dict(pool.machine.allocatable),
        "nodeInfo": {
            "architecture": pool.machine.arch,
            "bootID": "",
            "containerRuntimeVersion": "containerd://2.1.0",
            "kernelVersion": "6.8.0",
            "kubeProxyVersion": "",
            "kubeletVersion": cluster.kubernetes.kubelet,
            "machineID": "",
            "operatingSystem": "linux",
            "osImage": "KWOK",
            "systemUUID": "",
        },
    }
