"""Jobs that come one after another, applied by the script of their bundle."""

import os
import subprocess
import time
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

from testbed import programs, removing, running
from testbed.cluster import Cluster
from tests.live.rendering import bundle
from tests.live.test_bundles import errors_of_kwok

pytestmark = [pytest.mark.live, pytest.mark.newest]
LATE = 5
"""Seconds that a wave may come later than another: the script applies one after the other, and the first is late too."""


def test_the_jobs_of_a_trace_come_in_time(cluster: Cluster, tmp_path: Path) -> None:
    """Each at its second and none before, also those that have to wait for room then; all complete."""
    folder = bundle("trace", cluster.minor, tmp_path / "b")
    with removing.applied(cluster, folder) as live:
        assert cluster.get("jobs", "-n", live.name) == []
        kubectl = programs.path(f"kubernetes-{cluster.minor}", "kubectl").parent
        environment = os.environ | {"KUBECONFIG": str(cluster.kubeconfig), "PATH": f"{kubectl}:{os.environ['PATH']}"}
        began = int(time.time())
        subprocess.run(["sh", str(folder / "waves" / "apply.sh")], env=environment, check=True, capture_output=True)
        running.wait(cluster, live, jobs=True, limit=180)
        jobs = cluster.get("jobs", "-n", live.name)
        came = {job["metadata"]["name"]: moment(job["metadata"]["creationTimestamp"]) for job in jobs}
        due = {name: int(file.stem) for file in waves(folder) for name in names(file)}
        assert came.keys() == due.keys()
        late = {name: came[name] - began - due[name] for name in due}
        assert min(late.values()) >= 0, late
        assert max(late.values()) - min(late.values()) <= LATE, late
        ordered = sorted(due, key=lambda name: due[name])
        assert all(came[first] <= came[second] for first, second in pairwise(ordered))
        assert errors_of_kwok(cluster, live) == []


def waves(folder: Path) -> list[Path]:
    return sorted((folder / "waves").glob("*.yaml"))


def names(file: Path) -> list[str]:
    return [line.split('"')[1] for line in file.read_text().splitlines() if line.startswith('  name: "')]


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
