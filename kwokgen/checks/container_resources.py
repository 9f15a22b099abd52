"""Resources that nodes have and no container can ask for."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.model.place import Place
from kwokgen.model.workload import Container
from kwokgen.problem import Problem

ID = "container-resource"
SUMMARY = "Containers ask for resources that containers can have"
OF_NODES = "pods"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Containers with a resource of nodes."""
    for workload in cluster.parts:
        for container, at in workload.containers:
            yield from _of_nodes(at, container)


def _of_nodes(at: Place, container: Container) -> Iterator[Problem]:
    if OF_NODES in container.requests:
        message = f"{OF_NODES} is a resource of nodes, a container cannot ask for it"
        yield Problem(at.key("resources", OF_NODES), ID, message, "leave it out")
