"""Namespaces: a bundle makes and deletes its own, so that none of the cluster's can be one of them."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.problem import Pos, Problem

ID = "own-namespace"
SUMMARY = "Namespaces of a bundle are not the cluster's own"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Namespaces that every cluster has."""
    for namespace in cluster.namespaces:
        yield from _own(namespace.name, namespace.at.pos("name"))
    yield from _own(cluster.controller.namespace, cluster.controller.at.pos("namespace"))


def _own(name: str, pos: Pos) -> Iterator[Problem]:
    if name == "default" or name.startswith("kube-"):
        hint = "a bundle deletes its namespaces with all that is in them: name one of its own"
        yield Problem(pos, ID, f'the namespace "{name}" is the cluster\'s own', hint)
