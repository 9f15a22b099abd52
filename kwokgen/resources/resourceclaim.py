"""ResourceClaims that several pods share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.claim import Claim, Request
from kwokgen.model.cluster import Cluster
from kwokgen.resources._common import metadata
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
    return {"devices": {"requests": [_request(request, flat=flat) for request in claim.requests]}}


def _request(request: Request, *, flat: bool) -> dict[str, Any]:
    """Mode and count are written even where they are the default, or no later apply says `unchanged`."""
    body: dict[str, Any] = {"deviceClassName": request.device_class}
    body |= (
        {"allocationMode": "All"} if request.count is None else {"allocationMode": "ExactCount", "count": request.count}
    )
    if request.selectors:
        body["selectors"] = [{"cel": {"expression": text}} for text in request.selectors]
    return {"name": request.name, **body} if flat else {"name": request.name, "exactly": body}
