"""Bundles broken on purpose: what the other tests look at does show it."""

import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from testbed import running
from testbed.cluster import Cluster
from tests.live.conftest import Applied, minor_of
from tests.live.rendering import bundle

pytestmark = [pytest.mark.live, pytest.mark.newest]

BREAKS = {
    "a slice of a pool that is said to have two": (
        "50-slices-h100.yaml",
        r"resourceSliceCount: 1",
        "resourceSliceCount: 2",
    ),
    "a Stage that subtracts labels": (
        "10-kwok.yaml",
        r'(?s)(name: quickstart-timed-create.*?- key: )"\.status\.phase"',
        r'\1".metadata.labels.job-type"',
    ),
    "pods that do not tolerate the taint of their nodes": (
        "80-workloads.yaml",
        r" +tolerations:\n( +(-|  )[^\n]*\n)+?(?= +\w+:\n)",
        "",
    ),
}
HEALTHY_SECONDS = 25
UNSEEN = "incomplete-pool-served"
"""Of minors whose scheduler gives devices of a pool before all of its slices are there: the Job finishes."""


@pytest.mark.parametrize(("file", "right", "wrong"), BREAKS.values(), ids=BREAKS)
def test_what_is_broken_is_seen(
    file: str, right: str, wrong: str, cluster: Cluster, applied: Applied, tmp_path: Path
) -> None:
    """The wait that every bundle passes in a few seconds names the Job that does not finish."""
    folder = bundle("quickstart", cluster.minor, tmp_path / "b", "workloads.train.run=1s")
    text, times = re.subn(right, wrong, (folder / file).read_text())
    assert times
    (folder / file).write_text(text)
    unseen = "resourceSliceCount" in right and UNSEEN in minor_of(cluster.minor).faults
    seen = pytest.raises(TimeoutError, match=r"missing: quickstart/train-0")
    with applied(folder) as live, nullcontext() if unseen else seen:
        running.wait(cluster, live, jobs=True, limit=HEALTHY_SECONDS)


def test_what_is_not_broken_finishes_in_that_time(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """So that the wait above is not just too short."""
    with applied(bundle("quickstart", cluster.minor, tmp_path / "b", "workloads.train.run=1s")) as live:
        running.wait(cluster, live, jobs=True, limit=HEALTHY_SECONDS)
