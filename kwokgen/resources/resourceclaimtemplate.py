"""ResourceClaimTemplates: a claim for each pod."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources import resourceclaim
from kwokgen.resources._common import metadata
from kwokgen.series import Series, one

KIND = "ResourceClaimTemplate"
IMMUTABLE = (("spec",),)


def build(cluster: Cluster) -> Iterator[Series]:
    """The claims that are not shared."""
    for claim in cluster.claims:
        if not claim.shared:
            document = {
                "apiVersion": f"resource.k8s.io/{cluster.kubernetes.resource_api}",
                "kind": KIND,
                "metadata": metadata(cluster, claim.name, namespace=claim.namespace),
                "spec": {"spec": resourceclaim.spec(cluster, claim)},
            }
            yield one(document, file=resourceclaim.FILE, at=claim.at, by=__name__)
