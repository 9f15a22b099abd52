"""A cluster and an applied bundle in; every object of the bundle deleted and gone out."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testbed import bundle as bundles
from testbed import kueue, operators, running
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from testbed.readiness import NotReadyError
from testbed.running import Taking

PATIENCE = 60
RIGHTS = {
    "namespaces",
    "serviceaccounts",
    *(f"{kind}.rbac.authorization.k8s.io" for kind in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")),
}
"""What KWOK's token lives by."""
DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
PLAYED = {"nodes", "stages.kwok.x-k8s.io", DEFINITIONS}
"""What KWOK needs to end pods."""


@contextmanager
def applied(
    cluster: Cluster, folder: Path, *, limit: float = 120, ready: bool = True, take: Taking = running.apply
) -> Iterator[Bundle]:
    """Apply a bundle, run its controllers, wait for Ready nodes (unless its faults forbid); afterwards remove it."""
    bundle = bundles.read(folder)
    try:
        running.run(cluster, bundle, take)
        if ready:
            running.wait(cluster, bundle, jobs=False, limit=limit)
        yield bundle
    finally:
        try:
            remove(cluster, bundle)
        except NotReadyError:
            # A controller that ended fails this test, and none after it.
            _end_controllers(cluster, bundle)
            remove(cluster, bundle)
            raise


def remove(cluster: Cluster, bundle: Bundle) -> None:
    """Workloads first, while KWOK still ends their pods and has its rights; the rest after KWOK has stopped."""
    kinds = _kinds(cluster)
    _delete(cluster, bundle, [kind for kind in kinds if kind not in RIGHTS | PLAYED], "--wait=false")
    _delete_namespaces(cluster, bundle)
    _end_pods(cluster, bundle)
    _end_controllers(cluster, bundle)
    # A kind goes with its definition, and kubectl fails on a kind that is gone.
    _delete(cluster, bundle, [kind for kind in kinds if kind != DEFINITIONS], f"--timeout={PATIENCE}s")
    _delete(cluster, bundle, [DEFINITIONS], f"--timeout={PATIENCE}s")
    _check_gone(cluster, bundle, _kinds(cluster))
    # They let go of their own objects, so they are the last to end.
    for operator in bundle.operators:
        operators.end(cluster, operator)
    kueue.end(cluster)


def _kinds(cluster: Cluster) -> list[str]:
    """All kinds that the server has, custom ones too."""
    return cluster.kubectl("api-resources", "--verbs=list,delete", "--output=name").stdout.split()


def _delete(cluster: Cluster, bundle: Bundle, kinds: list[str], *arguments: str) -> None:
    selection = ("-l", bundle.selector, "--all-namespaces", "--ignore-not-found")
    cluster.kubectl("delete", ",".join(kinds), *selection, *arguments)


def _delete_namespaces(cluster: Cluster, bundle: Bundle) -> None:
    """Those without a controller: what a test put there itself ends too, and nothing new begins."""
    homes = {controller.namespace for controller in bundle.controllers}
    names = {each["metadata"]["name"] for each in cluster.get("namespaces", "-l", bundle.selector)} - homes
    if names:
        cluster.kubectl("delete", "namespaces", *sorted(names), "--wait=false")


def _end_pods(cluster: Cluster, bundle: Bundle) -> None:
    """Wait for KWOK to end the pods, and do it by force where it does not: a fault may have taken a node from it."""
    deadline = time.monotonic() + PATIENCE
    while pods := _pods(cluster, bundle):
        if time.monotonic() > deadline:
            for namespace, name in pods:
                place = ("--namespace", namespace, "--ignore-not-found")
                cluster.kubectl("delete", "pod", name, *place, "--force", "--grace-period=0")
        time.sleep(0.3)


def _pods(cluster: Cluster, bundle: Bundle) -> list[tuple[str, str]]:
    nodes = {node["metadata"]["name"] for node in cluster.get("nodes", "-l", bundle.selector)}
    found = (pod for pod in cluster.get("pods", "--all-namespaces") if pod["spec"].get("nodeName") in nodes)
    return [(pod["metadata"]["namespace"], pod["metadata"]["name"]) for pod in found]


def _end_controllers(cluster: Cluster, bundle: Bundle) -> None:
    names = {controller.name for controller in bundle.controllers}
    for process in [each for each in cluster.running if each.name in names]:
        cluster.end(process)


def _check_gone(cluster: Cluster, bundle: Bundle, kinds: list[str]) -> None:
    selection = ("-l", bundle.selector, "--all-namespaces", "--output=name")
    left = cluster.kubectl("get", ",".join(kinds), *selection).stdout.split()
    if left:
        raise RuntimeError(f"{bundle.name} was removed, but these are left: {', '.join(left)}")
