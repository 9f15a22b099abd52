"""What a render would make, in numbers: objects, bytes, controllers, load on the API server, time to apply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple

from kwokgen.bundle import Bundle
from kwokgen.model.cluster import Cluster
from kwokgen.model.target import Requirements
from kwokgen.model.topology import Topology
from kwokgen.needs import requirements
from kwokgen.pipeline import Rendered
from kwokgen.series import Series
from kwokgen.timeline import Moment, timeline

OBJECTS_A_SECOND = 30
"""What one `kubectl apply` stream reaches on a loopback control plane of two cores: 70 at 1,000 nodes, at 10,000 37 on one machine and
16 on another (bench/live/scale.py measures it)."""
SECONDS_A_NODE = 10
"""How far apart the controller manager puts pods out of NotReady nodes, with 55 % of a zone's nodes Ready or more:
https://kubernetes.io/docs/concepts/architecture/nodes/#rate-limits-on-eviction"""


class Arrivals(NamedTuple):
    """Jobs that come after the apply: how many, in how many waves, and the second of the last."""

    jobs: int
    waves: int
    last: int


class Plan(NamedTuple):
    """Figures of a bundle; rates are per second over the whole cluster.

    `topology` is how many of each level the tree has, and how many nodes they have room for; `smear_seconds` lie between the
    creation of the first and of the last node of one apply, `eviction_seconds` between the first and the last of all nodes that
    faults make NotReady to lose its pods.
    """

    name: str
    kubernetes: str
    nodes: int
    gpus: int
    objects: dict[str, int]
    bytes: int
    files: int
    controllers: int
    lease_writes: float
    apply_seconds: int
    arrivals: Arrivals | None
    requirements: Requirements
    topology: dict[str, int]
    timeline: tuple[Moment, ...]
    smear_seconds: int
    eviction_seconds: int


def plan(rendered: Rendered) -> Plan:
    """The figures of a rendered cluster; the bytes are counted by making them."""
    cluster, bundle = rendered.cluster, rendered.bundle()
    objects: Counter[str] = Counter()
    for series in rendered.series:
        for kind, number in series.kinds():
            objects[kind] += number
    moments, arrivals = timeline(cluster), _arrivals(cluster, rendered.series)
    down = sum(moment.nodes for moment in moments if "Ready=False" in moment.what)
    renewal = cluster.controller.renewal_seconds
    return Plan(
        name=cluster.name,
        kubernetes=cluster.kubernetes.minor,
        nodes=cluster.nodes,
        gpus=sum(pool.count * pool.gpus.count for pool in cluster.pools if pool.gpus),
        objects=dict(sorted(objects.items())),
        bytes=_bytes(bundle),
        files=sum(file.applied for file in bundle.files),
        controllers=0 if cluster.controller.run == "existing" else cluster.controller.shards,
        lease_writes=round(cluster.nodes / renewal, 1) if renewal else 0.0,
        apply_seconds=1
        + round((objects.total() - sum(one.rows for one in rendered.series if one.parts)) / OBJECTS_A_SECOND),
        arrivals=arrivals,
        requirements=requirements(cluster),
        topology=_tree(cluster.topology),
        timeline=moments,
        smear_seconds=round(cluster.nodes / OBJECTS_A_SECOND),
        eviction_seconds=SECONDS_A_NODE * max(0, down - 1),
    )


def _arrivals(cluster: Cluster, series: Sequence[Series]) -> Arrivals | None:
    jobs = sum(workload.count for workload in cluster.workloads if workload.arrival)
    waves = sorted({path for one in series for path, _ in one.parts})
    return Arrivals(jobs, len(waves), int(PurePath(waves[-1]).stem)) if waves else None


def _tree(topology: Topology | None) -> dict[str, int]:
    if topology is None:
        return {}
    return {level.name: len(level.places) for level in topology.levels} | {"places for nodes": sum(topology.nodes)}


def _bytes(bundle: Bundle) -> int:
    return sum(len(piece) for piece in bundle.stream())
