"""The labels that kwokgen itself sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from types import MappingProxyType
from typing import Any

from kwokgen.model.pool import Pool
from kwokgen.model.topology import Topology

MANAGED_BY = "app.kubernetes.io/managed-by"
INSTANCE = "app.kubernetes.io/instance"
HOSTNAME = "kubernetes.io/hostname"
POOL = "kwokgen.io/pool"
SHARD = "kwokgen.io/shard"
LIFECYCLE = "kwokgen.io/lifecycle"
JOB = "kwokgen.io/job"


def of_bundle(name: str) -> dict[str, Any]:
    """The labels by which a bundle is found and deleted."""
    return {MANAGED_BY: "kwokgen", INSTANCE: name}


def of_place(bundle: str, topology: Topology | None, pool: Pool) -> dict[str, Callable[[int], str]]:
    """What tells where each node of a pool stands, by its index; labels of one value have one function."""
    done: dict[str, Callable[[int], str]] = {}
    if topology:
        for label in topology.labels:
            done |= dict.fromkeys(label.keys, topology.seats[pool.name].column(label.texts))
        done |= dict.fromkeys(topology.node_keys, pool.names.name)
    if pool.clique:
        done[pool.clique] = _clique(bundle, topology, pool)
    return done


def _clique(bundle: str, topology: Topology | None, pool: Pool) -> Callable[[int], str]:
    """<ClusterUUID>.<CliqueID>: of a place in the tree, or of as many nodes in order as a domain has."""
    if topology and topology.nvlink:
        begin = _uuid(f"{bundle}/nvlink")
        texts = tuple(f"{begin}{place:012x}.1" for place in topology.nvlink.of)
        return topology.seats[pool.name].column(texts)
    begin, machines = _uuid(f"{bundle}/{pool.name}/nvlink"), pool.machine.nvlink
    return lambda index: f"{begin}{index // machines:012x}.1"


def _uuid(salt: str) -> str:
    digits = blake2b(salt.encode(), digest_size=10).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-"


def of_node(pool: Pool, name: Any, shard: Any, place: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """What a node of a pool has beside those of its bundle; its name, its shard and its place may be slots."""
    fixed = {
        HOSTNAME: name,
        "kubernetes.io/arch": pool.machine.arch,
        "kubernetes.io/os": "linux",
        "type": "kwok",
        POOL: pool.name,
        SHARD: shard,
    }
    lifecycle = {} if pool.default_lifecycle else {LIFECYCLE: pool.lifecycle.name}
    operator = pool.gpus.labels if pool.gpus and pool.operator_labels else {}
    return fixed | dict(pool.machine.labels) | lifecycle | dict(operator) | dict(place) | dict(pool.labels)
