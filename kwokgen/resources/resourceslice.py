"""ResourceSlices: the devices of a node, all slices of one node together, so that no pool is ever seen half."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.device import Devices, NetworkDevices
from kwokgen.model.labels import INSTANCE, POOL, SHARD
from kwokgen.model.pool import Pool
from kwokgen.model.slices import stretches
from kwokgen.resources import _faults
from kwokgen.resources._common import metadata
from kwokgen.resources._devices import Part, parts
from kwokgen.resources._slicefaults import later
from kwokgen.resources.node import NAME, NODES_A_FILE
from kwokgen.resources.node import columns as node_columns
from kwokgen.series import Document, Join, Run, Series, Shape, Slot

KIND = "ResourceSlice"
IMMUTABLE = (("spec", "driver"), ("spec", "nodeName"), ("spec", "pool", "name"))


def build(cluster: Cluster) -> Iterator[Series]:
    """A series a pool with DRA devices, and the slices of devices that belong to no node."""
    for pool in cluster.pools:
        if pool.published:
            yield Series(
                file=f"50-slices-{pool.name}.yaml",
                runs=tuple(_runs(cluster, pool)),
                at=pool.at,
                by=__name__,
                columns=node_columns(pool) | {"hex": lambda index: f"{index:08x}"},
                chunk=NODES_A_FILE,
                pool=pool.name,
            )
    for network in cluster.network_devices:
        yield Series(
            file="51-network-devices.yaml",
            runs=(Run(Shape(tuple(_network_slices(cluster, network))), 0, 0),),
            at=network.at,
            by=__name__,
        )


def _runs(cluster: Cluster, pool: Pool) -> Iterator[Run]:
    """A shape for each stretch of nodes that have the same taints and the same devices missing."""
    shapes: dict[tuple[int, ...], Shape] = {}
    for first, last, held in stretches(pool):
        if held not in shapes:
            shapes[held] = Shape(tuple(_slices(cluster, pool, first)))
        yield Run(shapes[held], first, last)


def _slices(cluster: Cluster, pool: Pool, node: int) -> Iterator[Document]:
    for devices in pool.published:
        # Two drivers of a node may begin their uuids alike.
        beside = "" if pool.gpus and devices is pool.gpus.devices else f"/{devices.driver}"
        salt = f"{cluster.name}/{pool.name}{beside}"
        labels = {POOL: pool.name} | _of_faults(cluster, pool, devices, node)
        yield from _documents(cluster, devices.on(node), NAME, {"nodeName": NAME}, labels, salt)


def _of_faults(cluster: Cluster, pool: Pool, devices: Devices, node: int) -> dict[str, Any]:
    """The labels by which Stages find the slices of GPUs that a fault taints."""
    held = [fault for fault in cluster.faults_of(pool) if later(fault) and fault.holds(node)]
    if not held or pool.gpus is None or devices is not pool.gpus.devices:
        return {}
    return {SHARD: Slot("shard")} | _faults.labels(held)


def _documents(
    cluster: Cluster, devices: Devices, name: Any, where: dict[str, Any], labels: dict[str, Any], salt: str
) -> Iterator[Document]:
    """The slices of one pool of DRA; `where` says which nodes can use them."""
    cut = parts(cluster.kubernetes, devices, blake2b(salt.encode(), digest_size=10).hexdigest())
    for number, part in enumerate(cut):
        suffix = f"-{devices.driver}" + (f"-{number}" if number else "")
        called = Join((name, suffix)) if name is NAME else name + suffix
        yield {
            "apiVersion": f"resource.k8s.io/{cluster.kubernetes.resource_api}",
            "kind": KIND,
            "metadata": metadata(cluster, called, labels=labels),
            "spec": {
                "driver": devices.driver,
                **where,
                "pool": {"name": name, "generation": 1, "resourceSliceCount": len(cut)},
                **_content(part),
            },
        }


def _content(part: Part) -> dict[str, Any]:
    counters = {"sharedCounters": list(part.counters)} if part.counters else {}
    return counters | ({"devices": list(part.devices)} if part.devices else {})


def _network_slices(cluster: Cluster, network: NetworkDevices) -> Iterator[Document]:
    name = f"{cluster.name}-{network.name}"
    expressions = [{"key": INSTANCE, "operator": "In", "values": [cluster.name]}]
    if network.pools:
        expressions.append({"key": POOL, "operator": "In", "values": list(network.pools)})
    expressions += [{"key": key, "operator": "In", "values": [value]} for key, value in network.labels.items()]
    where = {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}
    yield from _documents(cluster, network.devices, name, where, {}, f"{cluster.name}/{network.name}")
