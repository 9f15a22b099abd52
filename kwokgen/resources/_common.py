"""What all objects of a bundle carry: its ownership labels, and the affinity that keeps its pods on its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.labels import INSTANCE, POOL, of_bundle
from kwokgen.model.pool import Pool
from kwokgen.model.taint import Taint

PLAYED = "kwokgen.io/played"
RUN_SECONDS = "kwokgen.io/run-seconds"
PODS = "pods"
"""The only group of a gang's Workload."""


def owned(cluster: Cluster, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The labels by which a bundle is found and deleted."""
    return of_bundle(cluster.name) | dict(more or {})


def metadata(
    cluster: Cluster,
    name: Any,
    *,
    namespace: str | None = None,
    labels: Mapping[str, Any] | None = None,
    annotations: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The metadata of an object; `name` may be a slot."""
    done: dict[str, Any] = {"name": name}
    if namespace:
        done["namespace"] = namespace
    done["labels"] = owned(cluster, labels)
    if annotations:
        done["annotations"] = dict(annotations)
    return done


def taint(entry: Taint) -> dict[str, str]:
    """A taint as a node, a device or a rule has it."""
    return {"key": entry.key, **_value(entry.value), "effect": entry.effect}


def _value(value: str | None) -> dict[str, str]:
    # The server leaves an empty one out (omitempty), and a second apply would write it anew:
    # https://github.com/kubernetes/api/blob/v0.37.2/core/v1/types.go
    return {"value": value} if value else {}


def toleration(entry: Taint) -> dict[str, str]:
    """What tolerates a taint: a valueless one by its key."""
    if entry.value is None:
        return {"key": entry.key, "operator": "Exists", "effect": entry.effect}
    return {"key": entry.key, "operator": "Equal", **_value(entry.value), "effect": entry.effect}


def plays(cluster: Cluster) -> bool:
    """Whether the controller may label nodes that it plays; the stock role of an existing one does not."""
    return cluster.controller.run != "existing"


def affinity(cluster: Cluster, pools: tuple[Pool, ...]) -> dict[str, Any]:
    """Only nodes of this bundle that a controller plays; only those of `pools` when there are any."""
    terms: list[dict[str, Any]] = [{"key": INSTANCE, "operator": "In", "values": [cluster.name]}]
    if plays(cluster):
        terms.append({"key": PLAYED, "operator": "Exists"})
    if pools:
        terms.append({"key": POOL, "operator": "In", "values": [pool.name for pool in pools]})
    required = {"nodeSelectorTerms": [{"matchExpressions": terms}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
