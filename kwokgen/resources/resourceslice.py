"""ResourceSlices: the devices of a node, all slices of one node together, so that no pool is ever seen half."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.gpu import Attribute, Gpus, Version
from kwokgen.model.pool import Pool
from kwokgen.resources._common import POOL, metadata
from kwokgen.resources.node import NAME, NODES_A_FILE
from kwokgen.resources.node import columns as node_columns
from kwokgen.series import Document, Join, Run, Series, Shape, Slot

KIND = "ResourceSlice"
IMMUTABLE = (("spec", "driver"), ("spec", "nodeName"), ("spec", "pool", "name"))


def build(cluster: Cluster) -> Iterator[Series]:
    """A series a pool whose GPUs are devices."""
    for pool in cluster.pools:
        if pool.gpus is None or not pool.slices:
            continue
        name = node_columns(pool)["name"]
        yield Series(
            file=f"50-slices-{pool.name}.yaml",
            runs=(Run(Shape(_slices(cluster, pool, pool.gpus)), 0, pool.count - 1),),
            at=pool.at,
            by=__name__,
            columns={"name": name, "hex": lambda index: f"{index:08x}"},
            chunk=NODES_A_FILE,
            pool=pool.name,
        )


def _slices(cluster: Cluster, pool: Pool, gpus: Gpus) -> tuple[Document, ...]:
    most = cluster.kubernetes.limits.devices_per_slice
    starts = range(0, gpus.count, most)
    return tuple(
        _slice(cluster, pool, gpus, number, range(start, min(start + most, gpus.count)), len(starts))
        for number, start in enumerate(starts)
    )


def _slice(cluster: Cluster, pool: Pool, gpus: Gpus, number: int, devices: range, total: int) -> Document:
    suffix = f"-{gpus.driver}" + (f"-{number}" if number else "")
    return {
        "apiVersion": f"resource.k8s.io/{cluster.kubernetes.resource_api}",
        "kind": KIND,
        "metadata": metadata(cluster, Join((NAME, suffix)), labels={POOL: pool.name}),
        "spec": {
            "driver": gpus.driver,
            "nodeName": NAME,
            "pool": {"name": NAME, "generation": 1, "resourceSliceCount": total},
            "devices": [_device(cluster, pool, gpus, index) for index in devices],
        },
    }


def _device(cluster: Cluster, pool: Pool, gpus: Gpus, index: int) -> dict[str, Any]:
    # Empty maps are dropped by the API server, and a second apply would write them anew.
    body: dict[str, Any] = {}
    if attributes := _attributes(cluster, pool, gpus, index):
        body["attributes"] = attributes
    if gpus.capacity:
        body["capacity"] = {name: {"value": value} for name, value in gpus.capacity.items()}
    if cluster.kubernetes.resource_api == "v1beta1":
        return {"name": gpus.device(index), "basic": body}
    return {"name": gpus.device(index), **body}


def _attributes(cluster: Cluster, pool: Pool, gpus: Gpus, index: int) -> dict[str, Any]:
    done: dict[str, Any] = {name: _attribute(value) for name, value in gpus.attributes.items()}
    if gpus.identity:
        done.setdefault(gpus.identity.attribute, {"string": _uuid(cluster, pool, gpus.identity.prefix, index)})
    if gpus.pci:
        done.setdefault(gpus.pci.bus_attribute, {"string": gpus.pci.addresses[index].bus})
        done.setdefault(gpus.pci.root_attribute, {"string": gpus.pci.addresses[index].root})
    return done


def _attribute(value: Attribute) -> dict[str, Any]:
    if isinstance(value, Version):
        return {"version": value.text}
    if isinstance(value, bool):
        return {"bool": value}
    return {"int": value} if isinstance(value, int) else {"string": value}


def _uuid(cluster: Cluster, pool: Pool, prefix: str, device: int) -> Join:
    """Distinct for each device of each cluster; only the index is a slot: a hash a node costs more than its slice."""
    digest = blake2b(f"{cluster.name}/{pool.name}".encode(), digest_size=10).hexdigest()
    fixed = f"{prefix}{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-"
    return Join((fixed, Slot("hex", "hex"), f"{device:04x}"))
