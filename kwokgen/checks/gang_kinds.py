"""Gangs of Kubernetes itself, of kinds whose definitions were made before there were any."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "gang-kind"
SUMMARY = "The definition of a workload's kind has the field by which pods belong to a gang"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Workloads whose objects the API server would refuse for an unknown field."""
    feature = cluster.kubernetes.features.get("gangs")
    for workload in cluster.workloads if feature and cluster.own_gangs else ():
        takes = workload.kind.gangs
        if feature and workload.gang and takes is not None and feature.kind not in takes:
            message = f"pods of the kind {workload.kind.name} have no field that says their {feature.kind}"
            yield Problem(
                workload.at.pos("gang"), ID, message, "write kind: job, or queues of a system with gangs of its own"
            )
