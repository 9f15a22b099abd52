"""The labels that kwokgen itself sets."""

from __future__ import annotations

from typing import Any

from kwokgen.model.pool import Pool

MANAGED_BY = "app.kubernetes.io/managed-by"
INSTANCE = "app.kubernetes.io/instance"
HOSTNAME = "kubernetes.io/hostname"
POOL = "kwokgen.io/pool"
SHARD = "kwokgen.io/shard"
LIFECYCLE = "kwokgen.io/lifecycle"


def of_bundle(name: str) -> dict[str, Any]:
    """The labels by which a bundle is found and deleted."""
    return {MANAGED_BY: "kwokgen", INSTANCE: name}


def of_node(pool: Pool, name: Any, shard: Any) -> dict[str, Any]:
    """What a node of a pool has beside those of its bundle; its name and its shard may be slots."""
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
    return fixed | dict(pool.machine.labels) | lifecycle | dict(operator) | dict(pool.labels)
