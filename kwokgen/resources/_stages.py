"""KWOK Stages of a cluster: its lifecycles guarded to its own nodes, one a pool for a changed capacity, and faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.labels import INSTANCE, LIFECYCLE, POOL
from kwokgen.model.lifecycle import Lifecycle, Stage
from kwokgen.model.pool import Pool
from kwokgen.resources import _failures, _nodefaults, _podfaults, _slicefaults
from kwokgen.resources._common import plays
from kwokgen.resources._selectors import absent, among
from kwokgen.series import Document

API_VERSION = "kwok.x-k8s.io/v1alpha1"


def stages(cluster: Cluster, shard: int = 0) -> Iterator[Document]:
    """Every Stage that plays the cluster, as one of its controllers has them."""
    for lifecycle in cluster.lifecycles:
        for stage in lifecycle.stages:
            yield _document(f"{cluster.name}-{lifecycle.name}-{stage.step}", _guarded(cluster, lifecycle, stage))
    for pool in cluster.pools:
        for stage in cluster.capacity.stages if cluster.capacity else ():
            yield _document(f"{cluster.name}-{stage.step}-{pool.name}", _for_pool(cluster, pool, stage))
    faults = (*_nodefaults.stages(cluster), *_slicefaults.stages(cluster, shard), *_podfaults.stages(cluster))
    for name, spec in (*faults, *_failures.stages(cluster)):
        yield _document(f"{cluster.name}-{name}", spec)


def _document(name: str, spec: dict[str, Any]) -> Document:
    return {"apiVersion": API_VERSION, "kind": "Stage", "metadata": {"name": name}, "spec": spec}


def _guarded(cluster: Cluster, lifecycle: Lifecycle, stage: Stage) -> dict[str, Any]:
    spec = deepcopy(dict(stage.spec))
    same = [other for other in cluster.lifecycles if other.kind == lifecycle.kind]
    selector = spec["selector"]
    if "patches" in spec["next"] and not plays(cluster):
        spec["next"]["patches"] = [patch for patch in spec["next"]["patches"] if patch["root"] == "status"]
    if lifecycle.kind == "Node":
        selector["matchLabels"] = {INSTANCE: cluster.name} | selector.get("matchLabels", {})
    if len(same) > 1:
        key = f'.metadata.labels["{LIFECYCLE}"]'
        guard = absent(key) if lifecycle is same[0] else among(key, lifecycle.name)
        selector["matchExpressions"] = [guard, *selector.get("matchExpressions", ())]
    return spec


def _for_pool(cluster: Cluster, pool: Pool, stage: Stage) -> dict[str, Any]:
    spec = deepcopy(dict(stage.spec))
    capacity, allocatable = pool.machine.capacity, pool.machine.allocatable
    wanted = ";".join(
        ",".join(sorted(f"{key}={value}" for key, value in part.items())) for part in (capacity, allocatable)
    )
    spec["selector"]["matchLabels"] = {INSTANCE: cluster.name, POOL: pool.name}
    spec["selector"]["matchExpressions"] += list(_nodefaults.apart(cluster.faults_of(pool)))
    for expression in spec["selector"]["matchExpressions"]:
        expression["values"] = [wanted if value == "$wanted" else value for value in expression["values"]]
    variables = f"{{{{ $capacity := {_dict(capacity)} }}}}\n{{{{ $allocatable := {_dict(allocatable)} }}}}\n"
    spec["next"]["statusTemplate"] = variables + spec["next"]["statusTemplate"]
    return spec


def _dict(values: Mapping[str, str]) -> str:
    """A map in the words of a Go template."""
    return " ".join(["dict", *(f'"{key}" "{value}"' for key, value in values.items())])
