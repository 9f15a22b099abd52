"""Workloads: the catalogue's template of their kind, stamped for every job."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from kwokgen.draw import between
from kwokgen.model.cluster import Cluster
from kwokgen.model.place import Place
from kwokgen.model.workload import Workload
from kwokgen.resources import _pods
from kwokgen.resources._common import owned
from kwokgen.series import Column, Run, Series, Shape, Slot
from kwokgen.templating import render

KIND = "Job"
IMMUTABLE = (("spec", "template"), ("spec", "completions"), ("spec", "completionMode"), ("spec", "selector"))


def build(cluster: Cluster) -> Iterator[Series]:
    """A series a workload."""
    for workload in cluster.workloads:
        values = {
            "name": Slot("name"),
            "namespace": workload.namespace,
            "labels": owned(cluster, workload.labels),
            "annotations": dict(workload.annotations),
            "pods": workload.pods,
            "parallelism": workload.parallelism,
            "suspend": workload.suspend,
            "pod": _pods.template(cluster, workload),
        }
        document = render(workload.template, values)
        yield Series(
            file="80-workloads.yaml",
            runs=(Run(Shape((document,)), 0, workload.count - 1),),
            at=Place(workload.at.node),
            by=__name__,
            columns=_columns(cluster, workload),
        )


def _columns(cluster: Cluster, workload: Workload) -> dict[str, Column]:
    return {"name": lambda index: f"{workload.name}-{index}", "run": lambda index: _run(cluster, workload, index)}


def _run(cluster: Cluster, workload: Workload, index: int) -> str:
    """The job's run time in seconds, to the millisecond."""
    if workload.run is None:
        return ""
    job = f"{workload.name}-{index}"
    drawn = between(cluster.seed, "run", job, workload.run.shortest, workload.run.longest)
    return f"{(Decimal(drawn) / 1000).normalize():f}"
