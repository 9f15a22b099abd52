"""Nodes: a pool is one shape, stamped for every index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.cluster import SHARD_VALUES, Cluster
from kwokgen.model.fault import Fault
from kwokgen.model.labels import of_node, of_place
from kwokgen.model.pool import Pool
from kwokgen.model.ranges import stretches
from kwokgen.resources import _faults, _nodefaults
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
        slots, places = _places(cluster, pool)
        yield Series(
            file=f"40-nodes-{pool.name}.yaml",
            runs=tuple(_runs(cluster, pool, slots)),
            at=pool.at,
            by=__name__,
            columns=columns(pool) | places,
            chunk=NODES_A_FILE,
            pool=pool.name,
        )


def _runs(cluster: Cluster, pool: Pool, places: dict[str, Slot]) -> Iterator[Run]:
    """A shape for each stretch of nodes that have the same faults."""
    faults = cluster.faults_of(pool)
    shapes: dict[tuple[int, ...], Shape] = {}
    for first, last, held in stretches(pool.count, [fault.nodes for fault in faults]):
        if held not in shapes:
            shapes[held] = Shape((_node(cluster, pool, [faults[number] for number in held], places),))
        yield Run(shapes[held], first, last)


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


def _places(cluster: Cluster, pool: Pool) -> tuple[dict[str, Slot], dict[str, Column]]:
    """The labels that tell where each node stands, and their columns: one for all labels of one value."""
    labels = of_place(cluster.name, cluster.topology, pool)
    names = {column: f"place-{number}" for number, column in enumerate(dict.fromkeys(labels.values()))}
    slots = {key: Slot(names[column]) for key, column in labels.items()}
    return slots, {name: column for column, name in names.items()}


def _node(cluster: Cluster, pool: Pool, faults: list[Fault], places: dict[str, Slot]) -> Document:
    born = [fault for fault in faults if not fault.stages]
    steps = [fault.steps[0] for fault in born]
    annotations: dict[str, Any] = {"kwok.x-k8s.io/node": "fake", "node.alpha.kubernetes.io/ttl": "0"}
    annotations |= pool.annotations
    spec: dict[str, Any] = {"providerID": Join(("kwok://", NAME))}
    taints = dict.fromkeys((*pool.taints, *(step.taint for step in steps if step.taint)))
    if taints:
        spec["taints"] = [taint(entry) for entry in taints]
    if any(step.cordon for step in steps):
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": KIND,
        "metadata": metadata(cluster, NAME, labels=_labels(pool, faults, places), annotations=annotations),
        "spec": spec,
        "status": _status(cluster, pool, born),
    }


def _labels(pool: Pool, faults: list[Fault], places: dict[str, Slot]) -> dict[str, Any]:
    born = {key: text for fault in faults if not fault.stages for key, text in fault.steps[0].labels.items()}
    own = of_node(pool, NAME, Slot("shard"), places)
    return own | born | _faults.labels(faults)


def _lost(born: list[Fault]) -> int:
    """How many fewer of the pool's resource there are; a GPU with two faults is lost once."""
    each: dict[int, int] = {}
    for fault in born:
        for gpu in fault.gpus:
            each[gpu] = max(each.get(gpu, 0), fault.steps[0].allocatable // len(fault.gpus))
    return sum(each.values())


def _status(cluster: Cluster, pool: Pool, born: list[Fault]) -> dict[str, Any]:
    """Both address types, or KWOK 0.8 deletes all; not Ready, or no Stage that makes a node so matches it."""
    lost = _lost(born)
    less = {pool.resource: _nodefaults.fewer(pool, lost)} if lost and pool.resource else {}
    conditions = _nodefaults.conditions(pool, born)
    return {
        "addresses": [
            {"type": "InternalIP", "address": Slot("address")},
            {"type": "Hostname", "address": NAME},
        ],
        "capacity": dict(pool.machine.capacity),
        "allocatable": dict(pool.machine.allocatable) | less,
        **({"conditions": conditions} if conditions else {}),
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
