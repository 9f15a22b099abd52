"""ResourceClaims that several pods share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.claim import Ask, Claim, Constraint, Request, Toleration
from kwokgen.model.cluster import Cluster
from kwokgen.resources._common import metadata
from kwokgen.resources.deviceclass import opaque
from kwokgen.series import Series, one

KIND = "ResourceClaim"
IMMUTABLE = (("spec",),)
FILE = "70-claims.yaml"


def build(cluster: Cluster) -> Iterator[Series]:
    """The shared claims."""
    for claim in cluster.claims:
        if claim.shared:
            document = {
                "apiVersion": f"resource.k8s.io/{cluster.kubernetes.resource_api}",
                "kind": KIND,
                "metadata": metadata(cluster, claim.name, namespace=claim.namespace),
                "spec": spec(cluster, claim),
            }
            yield one(document, file=FILE, at=claim.at, by=__name__)


def spec(cluster: Cluster, claim: Claim) -> dict[str, Any]:
    """What a claim asks for, in the shape of the target's API version."""
    flat = cluster.kubernetes.resource_api == "v1beta1"
    devices: dict[str, Any] = {"requests": [_request(request, flat=flat) for request in claim.requests]}
    if claim.constraints:
        devices["constraints"] = [_constraint(constraint) for constraint in claim.constraints]
    if claim.config:
        devices["config"] = [_for(config.requests) | opaque(config) for config in claim.config]
    return {"devices": devices}


def _request(request: Request, *, flat: bool) -> dict[str, Any]:
    if request.first_available:
        # The server adds an empty class beside alternatives of the flat form.
        head = {"deviceClassName": ""} if flat else {}
        return {
            "name": request.name,
            **head,
            "firstAvailable": [{"name": ask.name, **_ask(ask)} for ask in request.asks],
        }
    (ask,) = request.asks
    body = _ask(ask) | ({"adminAccess": True} if request.admin else {})
    return {"name": request.name, **body} if flat else {"name": request.name, "exactly": body}


def _ask(ask: Ask) -> dict[str, Any]:
    """Mode and count are written even where they are the default, or no later apply says `unchanged`."""
    body: dict[str, Any] = {"deviceClassName": ask.device_class}
    body |= {"allocationMode": "All"} if ask.count is None else {"allocationMode": "ExactCount", "count": ask.count}
    if ask.selectors:
        body["selectors"] = [{"cel": {"expression": text}} for text in ask.selectors]
    if ask.tolerations:
        body["tolerations"] = [_toleration(toleration) for toleration in ask.tolerations]
    if ask.capacity:
        body["capacity"] = {"requests": dict(ask.capacity)}
    return body


def _toleration(entry: Toleration) -> dict[str, Any]:
    parts = {
        "key": entry.key,
        "operator": entry.operator,
        "value": entry.value or None,
        "effect": entry.effect,
        "tolerationSeconds": entry.seconds,
    }
    return {key: value for key, value in parts.items() if value is not None}


def _for(requests: tuple[str, ...]) -> dict[str, Any]:
    return {"requests": list(requests)} if requests else {}


def _constraint(entry: Constraint) -> dict[str, Any]:
    return _for(entry.requests) | {"distinctAttribute" if entry.distinct else "matchAttribute": entry.attribute}
