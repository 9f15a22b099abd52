"""HyperNodes of Volcano: the places of the topology, each with those in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.labels import INSTANCE
from kwokgen.model.topology import Level, Topology
from kwokgen.resources import _places
from kwokgen.resources._common import metadata
from kwokgen.resources._queues import FILE
from kwokgen.series import Column, Join, Run, Series, Shape, Slot

KIND = "HyperNode"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()
NAME = Slot("name")


def build(cluster: Cluster) -> Iterator[Series]:
    """One for each place, the narrowest first: those have their nodes by a label, and are no larger for more nodes."""
    topology = cluster.topology
    if topology is None or cluster.queues.form != "volcano" or not topology.levels[-1].keys:
        return
    for level in reversed(topology.levels):
        runs = tuple(_runs(cluster, topology, level))
        yield Series(file=FILE, runs=runs, at=topology.at, by=__name__, columns=_columns(cluster, topology, level))


def _columns(cluster: Cluster, topology: Topology, level: Level) -> dict[str, Column]:
    done: dict[str, Column] = {"name": lambda index: f"{cluster.name}-{level.places[index].replace('/', '-')}"}
    texts = next((label.texts for label in topology.labels if level.keys and level.keys[0] in label.keys), ())
    return done | ({"value": lambda index: texts[index]} if level is topology.levels[-1] else {})


def _runs(cluster: Cluster, topology: Topology, level: Level) -> Iterator[Run]:
    """A shape for each number of places within."""
    if level is topology.levels[-1]:
        labels = {INSTANCE: cluster.name, level.keys[0]: Slot("value")}
        member = {"type": "Node", "selector": {"labelMatch": {"matchLabels": labels}}}
        yield Run(_shape(cluster, topology, level, [member]), 0, len(level.places) - 1)
        return
    below = topology.levels[topology.levels.index(level) + 1]
    within = Counter(place.rpartition("/")[0] for place in below.places)
    shapes = {count: _shape(cluster, topology, level, _members(below, count)) for count in {*within.values()}}
    for count, places in groupby(range(len(level.places)), key=lambda index: within[level.places[index]]):
        indexes = [*places]
        yield Run(shapes[count], indexes[0], indexes[-1])


def _members(below: Level, count: int) -> list[dict[str, Any]]:
    """The places within, which Volcano knows by their names alone."""
    names = (Join((NAME, f"-{below.name}-{index}")) for index in range(count))
    return [{"type": KIND, "selector": {"exactMatch": {"name": name}}} for name in names]


def _shape(cluster: Cluster, topology: Topology, level: Level, members: list[dict[str, Any]]) -> Shape:
    spec = {"tier": _places.tier(topology, level), "tierName": level.name, "members": members}
    version = cluster.queues.system.kinds[KIND]
    return Shape(({"apiVersion": version, "kind": KIND, "metadata": metadata(cluster, NAME), "spec": spec},))
