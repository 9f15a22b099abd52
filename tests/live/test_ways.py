"""Every way that a bundle's README names to give it to a cluster, each on a cluster without it."""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from testbed import bundle as bundles
from testbed import kwokctl, running
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from tests.live.conftest import Applied
from tests.live.rendering import bundle
from tests.live.test_bundles import AS_USERS_DO, errors_of_kwok, not_unchanged

pytestmark = [pytest.mark.live, pytest.mark.newest]

EXAMPLES = ("quickstart", "cl2-dra")
JOBS_SECONDS = 120


def stream(cluster: Cluster, taken: Bundle) -> None:
    """`kwokgen render … | kubectl apply -f -`."""
    text = "".join(file.read_text() for file in sorted(taken.folder.glob("*.yaml")))
    cluster.kubectl("apply", "-f", "-", stdin=text)


def kubectl(*arguments: str) -> running.Taking:
    return lambda cluster, taken: cluster.kubectl(*arguments, str(taken.folder))


WAYS: dict[str, running.Taking] = {
    "kustomize": kubectl("apply", "-k"),
    "server-side": kubectl("apply", "--server-side", "-f"),
    "create": kubectl("create", "-f"),
    "stream": stream,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_way_gives_the_same_cluster(
    name: str, way: str, cluster: Cluster, applied: Applied, tmp_path: Path
) -> None:
    """Nothing is refused, all nodes get Ready, and an apply of the folder then finds nothing to change."""
    folder = bundle(name, cluster.minor, tmp_path / name)
    with applied(folder, take=WAYS[way]) as live:
        if way == "create":
            # kubectl's own note of what it applied last is not there yet.
            cluster.kubectl("apply", "-f", str(folder))
        if way != "server-side":
            assert not_unchanged(cluster, folder, how=AS_USERS_DO) == []
        assert errors_of_kwok(cluster, live) == []


@pytest.mark.parametrize(
    "sets", [("controller.stages=crd",), ("controller.run=outside",)], ids=["stages: crd", "run: outside"]
)
@pytest.mark.parametrize("name", EXAMPLES)
def test_controllers_play_from_crds_and_from_outside(
    name: str, sets: Sequence[str], cluster: Cluster, applied: Applied, tmp_path: Path
) -> None:
    """Stages as objects, in the two steps of the README, and a controller that no Deployment describes."""
    folder = bundle(name, cluster.minor, tmp_path / name, *sets)
    with applied(folder) as live:
        running.wait(cluster, live, jobs=True, limit=JOBS_SECONDS)
        assert set(running.progress(cluster, live).jobs.values()) == {"Complete"}
        assert not_unchanged(cluster, folder, how=AS_USERS_DO) == []
        assert errors_of_kwok(cluster, live) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_kwokctl_makes_a_cluster_for_a_bundle(name: str, minor: str, tmp_path: Path) -> None:
    """`kwokctl create cluster --config controller/kwokctl.yaml`, then one apply: every Job completes."""
    taken = bundles.read(bundle(name, minor, tmp_path / name, "controller.run=outside"))
    with kwokctl.created(minor, taken) as cluster:
        cluster.kubectl("apply", "-f", str(taken.folder))
        deadline = time.monotonic() + JOBS_SECONDS
        while (states := set(states_of_jobs(cluster))) != {"Complete"} and time.monotonic() < deadline:
            time.sleep(0.5)
        assert states == {"Complete"}
        assert "forbidden" not in cluster.log()


def states_of_jobs(cluster: kwokctl.KwokctlCluster) -> list[str]:
    listed = cluster.kubectl("get", "jobs", "--all-namespaces", "--no-headers")
    return [line.split()[2] for line in listed.splitlines()]
