"""Names of jobs: short enough for a label and, with the last index, for a pod's host name."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.formats import MOST_LABEL
from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "job-name"
SUMMARY = "Names of jobs are at most 63 characters with the last pod's index"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Workloads whose last job cannot have its name."""
    for workload in cluster.parts:
        job, role = f"{workload.name}-{workload.count - 1}", workload.role or "".join(workload.kind.roles[-1:])
        longest = workload.kind.pod.format(job=job, index=workload.pods - 1, role=role)
        if len(longest) > MOST_LABEL:
            message = (
                f'the host name "{longest}" has {len(longest)} characters with its indexes, {MOST_LABEL} is the most'
            )
            left = MOST_LABEL - len(longest) + len(workload.name)
            hint = f"cut the name to {left} characters"
            if left > 0:
                yield Problem(workload.at.pos("name"), ID, message, hint)
            else:
                yield Problem(workload.at.pos(), ID, message, "cut the name of the role, and that of the workload")
