"""What holds the pods of a gang together: an object a job, named as the job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.workload import Workload
from kwokgen.resources._common import metadata
from kwokgen.resources.workload import FILE, named
from kwokgen.series import Run, Series, Shape, Slot


def gangs(cluster: Cluster, kind: str, by: str, spec: Callable[[Workload], dict[str, Any]]) -> Iterator[Series]:
    """Those of every workload with a gang, where the minor has them in the shape of `kind`."""
    feature = cluster.kubernetes.features.get("gangs")
    for workload in cluster.workloads if cluster.own_gangs else ():
        if workload.gang and feature and feature.kind == kind:
            document = {
                "apiVersion": f"scheduling.k8s.io/{feature.api}",
                "kind": kind,
                "metadata": metadata(cluster, Slot("name"), namespace=workload.namespace),
                "spec": spec(workload),
            }
            runs = (Run(Shape((document,)), 0, workload.count - 1),)
            yield Series(file=FILE, runs=runs, at=workload.at, by=by, columns={"name": named(workload)})
