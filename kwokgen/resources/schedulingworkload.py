"""Workloads of scheduling.k8s.io: what Kubernetes 1.35 has in the place of PodGroups."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources._common import PODS, metadata
from kwokgen.resources.workload import FILE, named
from kwokgen.series import Run, Series, Shape, Slot

KIND = "Workload"
IMMUTABLE = (("spec", "podGroups"),)


def build(cluster: Cluster) -> Iterator[Series]:
    """One for each job with a gang, named as the job."""
    gangs = cluster.kubernetes.features.get("gangs")
    for workload in cluster.workloads:
        if workload.gang and gangs and gangs.kind == KIND:
            document = {
                "apiVersion": f"scheduling.k8s.io/{gangs.api}",
                "kind": KIND,
                "metadata": metadata(cluster, Slot("name"), namespace=workload.namespace),
                "spec": {"podGroups": [{"name": PODS, "policy": {"gang": {"minCount": workload.parallelism}}}]},
            }
            runs = (Run(Shape((document,)), 0, workload.count - 1),)
            yield Series(file=FILE, runs=runs, at=workload.at, by=__name__, columns={"name": named(workload)})
