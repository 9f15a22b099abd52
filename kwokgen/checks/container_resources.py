"""Resources that nodes have and no container can ask for, or not so."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.formats import PAGES, QUOTAS
from kwokgen.model.amounts import worth
from kwokgen.model.cluster import Cluster
from kwokgen.model.place import Place
from kwokgen.model.workload import Container
from kwokgen.problem import Problem

ID = "container-resource"
SUMMARY = "Containers ask for resources that containers can have"
OF_NODES = "pods"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Containers with a resource of nodes, with a name that no container may have, or with huge pages that none gets.

    https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/core/validation/validation.go,
    ValidateContainerResourceRequirements.
    """
    for workload in cluster.parts:
        for container, at in workload.containers:
            yield from _of_nodes(at, container)
            yield from _pages(at, container)


def _of_nodes(at: Place, container: Container) -> Iterator[Problem]:
    for name in container.requests:
        if name == OF_NODES:
            message = f"{OF_NODES} is a resource of nodes, a container cannot ask for it"
            yield Problem(at.key("resources", OF_NODES), ID, message, "leave it out")
        elif name.startswith(QUOTAS):
            message = f'"{name}" begins as a quota\'s name of a resource'
            yield Problem(at.key("resources", name), ID, message, "such as example.com/gpu")


def _pages(at: Place, container: Container) -> Iterator[Problem]:
    for name, amount in container.requests.items():
        if not name.startswith(PAGES):
            continue
        if container.requests.keys().isdisjoint({"cpu", "memory"}):
            message = "a container with huge pages asks for cpu or memory as well"
            yield Problem(at.key("resources", name), ID, message, "add memory, such as 1Gi")
        size = name.removeprefix(PAGES)
        if worth(size) and worth(amount) % worth(size):
            message = f"{amount} is no whole number of pages of {size}"
            yield Problem(at.pos("resources", name), ID, message, f"a multiple of {size}")
