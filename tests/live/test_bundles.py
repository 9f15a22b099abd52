"""Examples on a real control plane: taken the first time, played by KWOK, finished, and gone again.

Those of DRA's features need gates on older minors: test_dra.py has them. Jobs that fail are never finished well:
test_failures.py has those. Those of a queue system or of a kind of workloads need its controller: test_queues.py and
test_controllers.py have them.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from testbed import running
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from tests.live.conftest import Applied
from tests.live.rendering import BLUEPRINTS, bundle

pytestmark = pytest.mark.live

LEFT_OUT = (
    "appwrapper-",
    "dra-",
    "fault-",
    "flaky-",
    "gang-",
    "kai",
    "kueue-",
    "numa",
    "observability",
    "roles",
    "topology-",
    "volcano",
    "yunikorn-",
)
JOBS_SECONDS = 150
AS_USERS_DO = ()
"""How an apply is asked that READMEs promise to change nothing: without running.QUICKLY."""
SLACK_SECONDS = 20
"""A busy machine plays a due Stage late; never early."""


@pytest.mark.parametrize("name", [name for name in BLUEPRINTS if not name.startswith(LEFT_OUT)])
def test_a_bundle_is_taken_played_and_finished(name: str, cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """The server takes every object without a warning, once; nodes get Ready, jobs Complete, KWOK logs no error."""
    folder = bundle(name, cluster.minor, tmp_path / name)
    cluster.kubectl("apply", "-f", str(folder / "00-namespace.yaml"))
    strict = cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", str(folder))
    assert strict.stderr == ""
    with applied(folder) as live:
        assert not_unchanged(cluster, folder, how=AS_USERS_DO) == []
        wanted = nodes_as_rendered(folder)
        assert wanted == nodes_as_served(cluster, live, wanted)
        running.wait(cluster, live, jobs=True, limit=JOBS_SECONDS)
        states = running.progress(cluster, live).jobs
        assert {job: state for job, state in states.items() if state not in {"Complete", "Suspended"}} == {}
        pods = pods_of(cluster, live)
        assert [pod["metadata"]["name"] for pod in pods if not ran_its_time(pod)] == []
        assert allocated_once(cluster, live, pods)
        assert not_unchanged(cluster, folder) == []
        assert errors_of_kwok(cluster, live) == []


def not_unchanged(cluster: Cluster, folder: Path, *, how: Sequence[str] = (running.QUICKLY,)) -> list[str]:
    """What an apply of what is there already would change; AS_USERS_DO takes a minute of a CPU for 400 objects."""
    lines = cluster.kubectl("apply", *how, "-f", str(folder)).stdout.splitlines()
    assert lines
    return [line for line in lines if not line.endswith(" unchanged")]


def documents(folder: Path, pattern: str) -> list[dict[str, Any]]:
    from ruamel.yaml import YAML

    return [document for file in sorted(folder.glob(pattern)) for document in YAML(typ="safe").load_all(file)]


def nodes_as_rendered(folder: Path) -> dict[str, Any]:
    return {
        node["metadata"]["name"]: essence(node, set(node["metadata"]["labels"])) for node in documents(folder, "40-*")
    }


def nodes_as_served(cluster: Cluster, live: Bundle, wanted: dict[str, Any]) -> dict[str, Any]:
    """The same of the server's nodes, which carry labels of KWOK's Stage and of the controller manager as well."""
    return {
        node["metadata"]["name"]: essence(node, set(wanted[node["metadata"]["name"]]["labels"]))
        for node in cluster.get("nodes", "-l", live.selector)
    }


def essence(node: dict[str, Any], labels: set[str]) -> dict[str, Any]:
    status = node["status"]
    return {
        "labels": {key: node["metadata"]["labels"][key] for key in sorted(labels)},
        "taints": sorted(json.dumps(taint, sort_keys=True) for taint in node["spec"].get("taints", [])),
        "capacity": status["capacity"],
        "allocatable": status["allocatable"],
        "addresses": sorted(address["address"] for address in status["addresses"]),
    }


def pods_of(cluster: Cluster, live: Bundle) -> list[dict[str, Any]]:
    names = {node["metadata"]["name"] for node in cluster.get("nodes", "-l", live.selector)}
    return [pod for pod in cluster.get("pods", "--all-namespaces") if pod["spec"].get("nodeName") in names]


def ran_its_time(pod: dict[str, Any]) -> bool:
    """Stages promise whole seconds: up to one less, never much more."""
    wanted = pod["metadata"].get("annotations", {}).get("kwokgen.io/run-seconds")
    if wanted is None:
        return True
    start = datetime.fromisoformat(pod["status"]["startTime"])
    ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"]
    took = (datetime.fromisoformat(ended) - start).total_seconds()
    return float(wanted) - 1 <= took <= float(wanted) + SLACK_SECONDS


def allocated_once(cluster: Cluster, live: Bundle, pods: list[dict[str, Any]]) -> bool:
    """No device is allocated to two claims, and every device is on the node of the pod that holds the claim."""
    claims = cluster.get("resourceclaims", "--all-namespaces")
    held = {claim["metadata"]["name"]: results(claim) for claim in claims}
    assert all(count == 1 for count in Counter(device for devices in held.values() for device in devices).values())
    for pod in pods:
        for status in pod["status"].get("resourceClaimStatuses", ()):
            devices = held.get(status["resourceClaimName"], ())
            assert all(pool == pod["spec"]["nodeName"] for _, pool, _ in devices)
    return True


def results(claim: dict[str, Any]) -> tuple[tuple[str, str, str], ...]:
    devices = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ())
    return tuple((result["driver"], result["pool"], result["device"]) for result in devices)


HARMLESS = re.compile(
    r"failed to delete pod .* not found|failed to patch pod .* not found.*-terminate\"|context canceled|lease already exists"
)
"""KWOK says so when a job controller was quicker, when it is stopped, and when it comes back to a node that it has just
begun to play: it makes the lease before it sees that it is there, and then takes it."""
AGAIN = re.compile(r'(?:one IP for each IP family|transitioned to non-terminated state)","pod":"([^"]+)"')
"""Of a pod that others wrote to, or deleted, as it was created, which is known (README, Known limits): once for each."""
INSTANT = 2
"""Seconds, on a busy machine, in which KWOK has not yet seen its own patch."""


def errors_of_kwok(cluster: Cluster, live: Bundle) -> list[str]:
    lines = [line for controller in live.controllers for line in cluster.log(controller.name).splitlines()]
    assert lines
    bad = [line for line in lines if '"level":"ERROR"' in line or "forbidden" in line]
    return [line for line in bad if not HARMLESS.search(line) and not created_again(line, lines)]


def created_again(error: str, lines: list[str]) -> bool:
    """An error of a pod that was patched in the same instant."""
    if not (found := AGAIN.search(error)):
        return False
    patched = [line for line in lines if '"msg":"Patch pod"' in line and f'"pod":"{found[1]}"' in line]
    return any(abs(logged(error) - logged(line)) <= INSTANT for line in patched)


def logged(line: str) -> float:
    return datetime.fromisoformat(json.loads(line)["time"]).timestamp()
