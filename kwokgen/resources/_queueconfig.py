"""The queues of YuniKorn, which are one file in a ConfigMap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen import emit
from kwokgen.model.cluster import Cluster
from kwokgen.model.queue import Queue
from kwokgen.resources._common import metadata
from kwokgen.resources._queues import FILE
from kwokgen.series import Series, one

KIND = "ConfigMap"
NAME = "yunikorn-configs"
"""The only one that YuniKorn reads: https://yunikorn.apache.org/docs/user_guide/service_config ."""


def build(cluster: Cluster) -> Iterator[Series]:
    """The whole tree of queues."""
    if cluster.queues.form == "yunikorn":
        root = {"name": "root", "submitacl": "*", "queues": _below(cluster, None)}
        text = emit.dump({"partitions": [{"name": "default", "queues": [root]}]}).removeprefix("---\n")
        document = {
            "apiVersion": "v1",
            "kind": KIND,
            "metadata": metadata(cluster, NAME, namespace=cluster.queues.system.namespace),
            "data": {"queues.yaml": text},
        }
        yield one(document, file=FILE, at=cluster.queues.at, by=__name__)


def _below(cluster: Cluster, cohort: str | None) -> list[dict[str, Any]]:
    cohorts = [
        {"name": each.name, "parent": True, "queues": _below(cluster, each.name)}
        for each in cluster.queues.cohorts
        if each.parent == cohort
    ]
    return [*cohorts, *(_leaf(queue) for queue in cluster.queues.queues if queue.cohort == cohort)]


def _leaf(queue: Queue) -> dict[str, Any]:
    sorts = {"guaranteed": queue.total, "max": queue.most}
    resources = {sort: _amounts(found) for sort, found in sorts.items() if found}
    return {"name": queue.name} | ({"resources": resources} if resources else {})


def _amounts(found: dict[str, str]) -> dict[str, str]:
    """https://yunikorn.apache.org/docs/user_guide/queue_config : CPUs are virtual cores there."""
    return {"vcore" if name == "cpu" else name: amount for name, amount in found.items()}
