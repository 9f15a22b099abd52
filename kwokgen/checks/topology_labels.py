"""Labels that tell a node's place: no other part of the blueprint says them too."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.labels import of_bundle, of_node
from kwokgen.model.topology import Topology
from kwokgen.problem import Pos, Problem, Related

ID = "topology-label"
SUMMARY = "Labels that tell the places of nodes are told by the topology alone"
RESERVED = ("app.kubernetes.io/", "kwok.x-k8s.io/", "kwokgen.io/")
"""Begin labels by which bundles, nodes and their Stages are found."""


def check(cluster: Cluster) -> Iterator[Problem]:
    """Labels of nodes that a scheme of the topology sets as well."""
    topology = cluster.topology
    if topology is None:
        return
    keys = {*topology.node_keys, *(key for label in topology.labels for key in label.keys)}
    related = (Related(topology.at.pos("schemes"), "the schemes of the topology"),)
    for pool in cluster.pools:
        for key in sorted(keys & pool.labels.keys()):
            message = f"the label {key} tells the place of each node"
            yield Problem(pool.at.key("labels", key), ID, message, "leave it out", related=related)
    taken = _taken(cluster, topology)
    for key in sorted(keys):
        if key in taken or key.startswith(RESERVED):
            said = taken.get(key) or "set by kwokgen"
            message = f"the label {key} of the nodes is {said}, and cannot tell their place as well"
            yield Problem(_pos(topology, key), ID, message, "choose another key")


def _taken(cluster: Cluster, topology: Topology) -> dict[str, str]:
    """The labels that nodes have beside those of their levels, and what each is."""
    done: dict[str, str] = {}
    for pool in cluster.pools:
        own = of_bundle(cluster.name) | of_node(pool._replace(labels={}), "", "")
        done |= {key: value or "their own" for key, value in own.items()}
        done |= {pool.clique: "their domain of NVLink"} if pool.clique else {}
    told = {key for label in topology.labels for key in label.keys}
    return done | dict.fromkeys(told & {*topology.node_keys}, "their host by a scheme of the catalogue")


def _pos(topology: Topology, key: str) -> Pos:
    """Where a key is written; the schemes where the catalogue has it."""
    for index, scheme in enumerate(topology.at.below("schemes").node.plain()):
        for level, written in scheme["keys"].items() if isinstance(scheme, dict) else ():
            if written == key:
                return topology.at.pos("schemes", index, "keys", level)
    return topology.at.pos("schemes")
