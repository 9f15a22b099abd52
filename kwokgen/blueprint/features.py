"""What of DRA a cluster uses, held against what its minor has."""

from __future__ import annotations

from kwokgen.blueprint.scope import Scope
from kwokgen.model.cluster import Cluster
from kwokgen.needs import used
from kwokgen.problem import Pos

WORDS = {
    "admin-access": "admin access",
    "capacity-sharing": "sharing by capacity",
    "device-taint-none": "effect None of taints",
    "device-taint-rules": "DeviceTaintRule",
    "device-taints": "taints of devices",
    "distinct-attribute": "distinctAttribute that works",
    "extended-resources": "extended resources by DRA",
    "first-available": "firstAvailable",
    "fractional-steps": "fractional steps of shared capacity",
    "gang-claims": "claims of a gang",
    "gang-topology": "topology constraints of gangs",
    "gangs": "gangs of its own",
    "list-attributes": "attributes of several values",
    "partitions": "partitions with counters",
    "semver-of-two": "semver or isSemver with a second argument",
}


def check(scope: Scope, cluster: Cluster) -> None:
    """Notes everything that the minor refuses, drops, or keeps and ignores."""
    for feature, pos in used(cluster):
        if feature not in cluster.kubernetes.features:
            message = f"Kubernetes {cluster.kubernetes.minor} has no {WORDS.get(feature, feature)}"
            scope.fail(pos, "feature", message, f"the first that has it is {_first(scope, feature)}")


def _first(scope: Scope, feature: str) -> str:
    for minor in scope.catalog.names("kubernetes"):
        fact = scope.catalog.get("kubernetes", minor, Pos("kubernetes"), "kubernetes minor")
        if feature in fact.data["features"]:
            return minor
    return "none"
