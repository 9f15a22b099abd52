"""WorkloadPriorityClasses of Kueue: which jobs of a queue go first."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.model.cluster import Cluster
from kwokgen.resources._priorities import classes
from kwokgen.series import Series

KIND = "WorkloadPriorityClass"
IMMUTABLE: tuple[tuple[str, ...], ...] = ()


def build(cluster: Cluster) -> Iterator[Series]:
    """Kueue has its own, which the scheduler does not know."""
    if cluster.queues.form == "kueue":
        yield from classes(cluster, KIND, cluster.queues.system.kinds[KIND], __name__)
