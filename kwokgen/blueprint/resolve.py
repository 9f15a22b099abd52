"""A checked blueprint to a Cluster: names looked up, catalogue entries merged, defaults derived."""

from __future__ import annotations

import re
from math import ceil

from kwokgen import formats
from kwokgen.blueprint import claims as claims_of
from kwokgen.blueprint import faults, features, lifecycles, network, observability, pools, queues, topology
from kwokgen.blueprint.classes import by_name, device_classes
from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.blueprint.shape import Sound, filled
from kwokgen.blueprint.workloads import Parts
from kwokgen.catalog import Catalog, Fact, entries
from kwokgen.model.claim import DeviceClass
from kwokgen.model.cluster import SHARD_VALUES, Cluster, Controller, Namespace, Patch, published
from kwokgen.model.device import NetworkDevices
from kwokgen.model.lifecycle import Lifecycle
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool
from kwokgen.model.target import Kubernetes
from kwokgen.model.workload import Workload
from kwokgen.problem import Pos, Problem

NODES_A_SHARD = 5_000


def resolve(sound: Sound, catalog: Catalog) -> tuple[Cluster, tuple[Problem, ...]]:
    """The cluster and every problem; with an error among them, it is the part of the cluster that is understood."""
    scope = Scope(catalog, sound)
    return _cluster(scope, filled(sound.node), Place(sound.node)), tuple(scope.problems)


def _cluster(scope: Scope, data: Data, at: Place) -> Cluster:
    name, spec, where = data["metadata"]["name"], data["spec"], at.below("spec")
    kubernetes = _kubernetes(scope, spec["kubernetes"], where)
    namespaces = _namespaces(scope, spec, where, name, kubernetes)
    lives = lifecycles.resolve(scope, spec, where)
    found = pools.resolve(scope, spec, where, lives["nodes"])
    tree = topology.resolve(scope, spec, where)
    goes_wrong = faults.resolve(scope, spec, where, found, tree)
    found = faults.marked(found, goes_wrong)
    controller = _controller(scope, spec, where, name, lives)
    fabric = network.network_devices(scope, spec, where)
    classes = device_classes(scope, spec, where, found, fabric)
    known = _understood(scope, classes)
    claims = claims_of.claims(scope, spec, where, claims_of.Known(known, _drivers(found, fabric), namespaces))
    cluster = Cluster(
        name=name,
        kubernetes=kubernetes,
        seed=spec["seed"],
        namespaces=namespaces,
        controller=controller,
        lifecycles=(*lives["nodes"], *lives["pods"]),
        capacity=lifecycles.capacity(scope, where),
        topology=tree,
        pools=found,
        network_devices=fabric,
        device_taint_rules=network.device_taint_rules(scope, spec, where, found, fabric),
        device_classes=classes,
        claims=claims,
        queues=queues.queues(scope, spec, where, found, classes),
        workloads=(),
        faults=goes_wrong,
        observability=observability.resolve(scope, spec, where),
        patches=_patches(scope, spec, where),
        at=at,
    )
    whole = cluster._replace(workloads=_workloads(scope, spec, where, cluster, lives["pods"]))
    if known is not None:
        by_name(scope, whole.parts, known)
    features.check(scope, whole)
    return whole._replace(queues=queues.covered(whole))


def _workloads(
    scope: Scope, spec: Data, at: Place, cluster: Cluster, lives: tuple[Lifecycle, ...]
) -> tuple[Workload, ...]:
    """The workloads of a cluster that has all else."""
    parts = Parts(
        scope=scope,
        pools={pool.name: pool for pool in cluster.pools},
        claims={claim.name: claim for claim in cluster.claims},
        lifecycles=lives,
        classes=cluster.device_classes,
        namespaces=tuple(namespace.name for namespace in cluster.namespaces),
        written_pools=tuple(pool["name"] for pool in spec["pools"]),
        queues=cluster.queues,
        seed=cluster.seed,
        topology=cluster.topology,
    )
    return parts.workloads(spec, at)


def _drivers(pools: tuple[Pool, ...], fabric: tuple[NetworkDevices, ...]) -> dict[str, str]:
    """The driver of each class that follows from devices."""
    return {offer.name: devices.driver for devices in published(pools, fabric) for offer in devices.offers}


def _understood(scope: Scope, classes: tuple[DeviceClass, ...]) -> dict[str, DeviceClass] | None:
    """Every class, or None where devices that more may follow from were not understood."""
    sure = not scope.doubtful & {"pools", "networkDevices"}
    return {each.name: each for each in classes} if sure else None


def _kubernetes(scope: Scope, written: str, at: Place) -> Kubernetes:
    """`1.37`, `v1.37` and `1.37.2` all name the minor 1.37."""
    minor = re.sub(r"^v?(\d+\.\d+)(\.\d+)?$", r"\1", written)
    found = entries.kubernetes(_fact_or_newest(scope, "kubernetes", minor, at.pos("kubernetes"), "kubernetes minor"))
    if not re.fullmatch(r"1\.\d+", found.minor):
        message = f'the catalogue\'s entry "{found.minor}" is called otherwise than a minor of Kubernetes'
        scope.fail(at.pos("kubernetes"), "catalog", message, "rename its file, such as 1.37.yaml")
    return found


def _fact_or_newest(scope: Scope, kind: str, name: str, pos: Pos, what: str) -> Fact:
    """The newest stands in for an unknown one, so that the rules that need one can be asked."""
    newest = scope.catalog.names(kind)[-1]
    return scope.fact(kind, name, pos, what) or scope.catalog.get(kind, newest, pos, what)


def _namespaces(scope: Scope, spec: Data, at: Place, name: str, kubernetes: Kubernetes) -> tuple[Namespace, ...]:
    items = spec.get("namespaces")
    if items is None:
        return (Namespace(name=name, labels={}, annotations={}, admin=False, at=at),)
    where = places(at, "namespaces", items)
    scope.distinct(items, where, "namespaces")
    for item, place in zip(items, where, strict=True):
        if item["adminAccess"] and kubernetes.admin_label in item.get("labels", {}):
            message = f"adminAccess sets the label {kubernetes.admin_label} as well"
            scope.fail(place.key("labels", kubernetes.admin_label), "claim", message, "leave out one of them")
    return tuple(
        Namespace(
            name=item["name"],
            labels=item.get("labels", {}) | ({kubernetes.admin_label: "true"} if item["adminAccess"] else {}),
            annotations=item.get("annotations", {}),
            admin=item["adminAccess"],
            at=place,
        )
        for item, place in zip(items, where, strict=True)
    )


def _controller(scope: Scope, spec: Data, at: Place, name: str, lives: dict[str, tuple[Lifecycle, ...]]) -> Controller:
    item, where = spec["controller"], at.below("controller")
    fact = _fact_or_newest(scope, "kwok", item["version"], where.pos("version"), "KWOK release")
    run = item["run"]
    stages = item.get("stages", "crd" if run == "existing" else "config")
    if run == "existing" and stages == "config":
        message = "an existing controller takes Stages only as objects"
        scope.fail(where.pos("stages"), "controller", message, "write stages: crd, or leave it out")
    if run == "existing" and item["shards"] != "auto":
        scope.fail(where.key("shards"), "controller", "an existing controller is not sharded here", "leave it out")
    if run == "existing" and where.raw("nodeLeaseDuration"):
        message = "an existing controller has its own lease duration"
        scope.fail(where.key("nodeLeaseDuration"), "controller", message, "leave it out")
    if run != "deployment" and "namespace" in item:
        message = f"with run: {run} nothing of the controller is in the cluster"
        scope.fail(where.key("namespace"), "controller", message, "leave out namespace")
    lease, rest = divmod(formats.milliseconds(item["nodeLeaseDuration"]), 1000)
    if rest:
        message = f"{item['nodeLeaseDuration']} is not a whole number of seconds, in which KWOK counts leases"
        scope.fail(where.pos("nodeLeaseDuration"), "controller", message, "such as 40s")
    else:
        _leases(scope, where, lease, lives["nodes"])
    return Controller(
        run=run,
        kwok=entries.kwok(fact),
        namespace=item.get("namespace", f"kwok-{name}"),
        shards=_shards(item["shards"], spec),
        crd=stages == "crd",
        lease_seconds=lease,
        at=where,
    )


def _leases(scope: Scope, at: Place, lease: int, lives: tuple[Lifecycle, ...]) -> None:
    for lifecycle in lives:
        if lifecycle.needs_lease and not lease:
            message = f'without leases, nodes of the lifecycle "{lifecycle.name}" fall NotReady after the grace period'
            scope.fail(at.pos("nodeLeaseDuration"), "controller", message, "use nodes: heartbeat, or a lease of 40s")


def _shards(written: int | str, spec: Data) -> int:
    nodes = sum(pool["count"] for pool in spec["pools"])
    return min(SHARD_VALUES, ceil(nodes / NODES_A_SHARD)) if isinstance(written, str) else written


def _patches(scope: Scope, spec: Data, at: Place) -> tuple[Patch, ...]:
    items = spec.get("patches", [])
    written = {pool["name"]: True for pool in spec["pools"]}
    done = []
    for item, place in zip(items, places(at, "patches", items), strict=True):
        target = item["target"]
        if "pool" in target:
            scope.find(written, target["pool"], place.pos("target", "pool"), "pool")
        done.append(
            Patch(
                kind=target["kind"],
                name=target.get("name"),
                namespace=target.get("namespace"),
                labels=target.get("labels", {}),
                pool=target.get("pool"),
                merge=item["merge"],
                at=place,
            )
        )
    return tuple(done)
