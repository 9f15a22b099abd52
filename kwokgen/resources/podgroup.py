"""PodGroups: the pods of a job that are scheduled together or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Workload
from kwokgen.resources import _pods
from kwokgen.resources._gangs import gangs
from kwokgen.series import Series

KIND = "PodGroup"
IMMUTABLE = (("spec",), ("spec", "resourceClaims"))
"""https://github.com/kubernetes/kubernetes/blob/v1.36.3/staging/src/k8s.io/api/scheduling/v1alpha2/types.go, PodGroupSpec."""
BESIDE = (("apiVersion",),)


def updatable(path: tuple[str, ...], group: Mapping[str, Any]) -> bool:
    """Whether an update can make an immutable path what it is in `group`: minCount, from 1.37 on."""
    return path == ("spec",) and not str(group.get("apiVersion")).endswith("/v1alpha2")


def build(cluster: Cluster) -> Iterator[Series]:
    """One for each job with a gang; the first minor with gangs has Workloads for them."""
    placed = cluster.queues.place
    yield from gangs(cluster, KIND, __name__, lambda workload: _spec(workload, placed=placed))


def _spec(workload: Workload, *, placed: bool) -> dict[str, Any]:
    policy = {"schedulingPolicy": {"gang": {"minCount": workload.parallelism}}}
    return policy | _constraints(workload, placed=placed) | _claims(workload)


def _constraints(workload: Workload, *, placed: bool) -> dict[str, Any]:
    """None beside those of a queue system, which has placed the gang."""
    place = None if placed else workload.placement
    return {"schedulingConstraints": {"topology": [{"key": place.key}]}} if place else {}


def _claims(workload: Workload) -> dict[str, Any]:
    """Exactly as the pods have them, or each pod gets a claim of its own."""
    claims = [_pods.claim(claim) for claim in workload.claims if claim.of_gang]
    return {"resourceClaims": claims} if claims else {}
