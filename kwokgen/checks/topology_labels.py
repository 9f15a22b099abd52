"""Labels that tell a node's place: no other part of the blueprint says them too."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.labels import of_bundle, of_node
from kwokgen.problem import Problem, Related

ID = "topology-label"
SUMMARY = "Labels that tell the places of nodes are told by the topology alone"


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
        own = of_bundle(cluster.name) | of_node(pool._replace(labels={}), "", "")
        for key in sorted(keys & own.keys()):
            message = f"the label {key} of the nodes is {own[key] or 'their own'}, and cannot tell their place as well"
            yield Problem(topology.at.pos("schemes"), ID, message, "choose another key")
