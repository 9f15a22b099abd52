"""What KWOK does with a bundle over time: its rights, its shards, and nodes that stay Ready."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testbed import bundle as bundles
from testbed import removing, running
from testbed.bundle import Bundle, Controller
from testbed.cluster import Cluster
from tests.live.conftest import minor_of, switched_on
from tests.live.rendering import bundle, written
from tests.live.test_bundles import documents, errors_of_kwok
from tests.live.watching import running_pods, until

pytestmark = pytest.mark.live

GRACE = 20
LEASE = 40
Right = tuple[str, str, str, str]
"""Group, resource, verb, and the namespace or all."""
"""API group, resource with its subresource, verb."""
FALLBACK = {("kwok.x-k8s.io", "stages", "list", "")}
"""Where the API server begins a watch with a list, nobody lists Stages."""


@pytest.fixture
def own(minor: str) -> Iterator[Cluster]:
    """A cluster that forgives a silent node for a short time only, and notes every request."""
    needs = minor_of(minor)
    gates = switched_on(needs.gates)
    with Cluster.start(minor, gates=gates, runtime_config=needs.runtime_config, grace=GRACE, audit=True) as cluster:
        yield cluster


@pytest.mark.parametrize("sets", [(), ("controller.stages=crd",)], ids=["stages in files", "stages: crd"])
def test_every_right_is_used_and_none_is_missing(sets: tuple[str, ...], own: Cluster, tmp_path: Path) -> None:
    """The roles are exactly what KWOK asked the API server for, from the first node to the last pod's deletion."""
    folder = bundle("quickstart", own.minor, tmp_path / "b", *sets)
    with removing.applied(own, folder) as live:
        running.wait(own, live, jobs=True, limit=120)
        change_capacity(own, live)
        own.kubectl("delete", "jobs", "--all", "-n", live.name, "--wait=true")
        until(lambda: not own.get("pods", "-n", live.name), 60, "all pods deleted")
        assert errors_of_kwok(own, live) == []
        had = rights(folder)
        assert had - FALLBACK == asked(own, live, had) - FALLBACK


def change_capacity(cluster: Cluster, live: Bundle) -> None:
    """KWOK gives a changed node its rendered capacity back."""
    patch = json.dumps({"status": {"capacity": {"cpu": "1"}}})
    cluster.kubectl("patch", "node", "h100-0", "--subresource=status", "--type=merge", "-p", patch)
    until(lambda: cluster.get("node", "h100-0")[0]["status"]["capacity"]["cpu"] != "1", 60, f"capacity of {live.name}")


def rights(folder: Path) -> set[Right]:
    return {
        (group, resource, verb, document["metadata"].get("namespace", ""))
        for document in documents(folder, "10-*")
        if document["kind"] in {"ClusterRole", "Role"}
        for rule in document["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def asked(cluster: Cluster, live: Bundle, had: set[Right]) -> set[Right]:
    """Every request as the right that it needs: that of its namespace where there is one, else that of all."""
    (controller,) = live.controllers
    user = f"system:serviceaccount:{controller.namespace}:{controller.service_account}"
    found = set()
    for request in cluster.requests():
        if request["user"]["username"] == user and "objectRef" in request:
            it = request["objectRef"]
            resource = it["resource"] + (f"/{it['subresource']}" if "subresource" in it else "")
            group, verb = it.get("apiGroup", ""), request["verb"]
            narrow = (group, resource, verb, it.get("namespace", ""))
            found.add(narrow if narrow in had else (group, resource, verb, ""))
    return found


LONG = """
controller: {shards: 2}
lifecycles: [{name: leased, nodes: heartbeat-lease}, {name: beating, nodes: heartbeat}, {name: still, nodes: fast}]
pools:
- {name: gpu, count: 8, machine: p5.48xlarge}
- {name: beating, count: 2, machine: m7i.24xlarge, lifecycle: beating}
- {name: still, count: 2, machine: m7i.24xlarge, lifecycle: still}
claims: [{name: one, requests: [{deviceClassName: gpu.nvidia.com}]}]
workloads: [{name: long, kind: job, pods: 24, claims: [one], run: 1h}]
"""


@pytest.mark.newest
def test_a_dead_shard_takes_only_its_own_nodes_along(own: Cluster, tmp_path: Path) -> None:
    """Shards share nothing, nodes of every lifecycle outlive twice the grace period, and a shard that is back finds its pods running."""
    with removing.applied(own, written("two", own.minor, tmp_path / "b", LONG)) as live:
        until(lambda: len(running_pods(own)) == 24, 60, "24 pods running")
        first, second = live.controllers
        mine, theirs = nodes_of(own, first.config), nodes_of(own, second.config)
        assert len(mine) > 1
        assert len(theirs) > 1
        assert len(mine | theirs) == 12
        holders = {lease["metadata"]["name"]: lease["spec"]["holderIdentity"] for lease in leases(own, live)}
        assert len({holders[name] for name in mine}) == len({holders[name] for name in theirs}) == 1
        assert holders[min(mine)] != holders[min(theirs)]
        before = running_pods(own)
        assert not set(addresses(before, mine)) & set(addresses(before, theirs))
        for nodes in (mine, theirs):
            assert twice(addresses(before, nodes)) < parallel(first)

        (dead,) = (process for process in own.running if process.name == first.name)
        own.end(dead)
        until(lambda: set(running.progress(own, live).unready) == mine, 4 * GRACE, "nodes of the dead shard NotReady")
        time.sleep(2 * GRACE)
        assert set(running.progress(own, live).unready) == mine

        restart(own, live, first.name)
        until(lambda: not running.progress(own, live).unready, LEASE + 10, "all nodes Ready again")
        after = running_pods(own)
        assert before.keys() == after.keys()
        assert errors_of_kwok(own, live) == []


def restart(cluster: Cluster, live: Bundle, name: str) -> None:
    (controller,) = (each for each in live.controllers if each.name == name)
    cluster.kwok(controller.config, token=running.token(cluster, controller), name=name)


def addresses(pods: dict[str, dict[str, Any]], nodes: set[str]) -> list[str]:
    return [pod["status"]["podIP"] for pod in pods.values() if pod["spec"]["nodeName"] in nodes]


def twice(found: list[str]) -> int:
    """Pods with an address that another has: the first that a controller plays at once may each begin a pool (README, Known limits)."""
    return len(found) - len(set(found))


def parallel(controller: Controller) -> int:
    (count,) = re.findall(r"podPlayStageParallelism: (\d+)", controller.config)
    return int(count)


def leases(cluster: Cluster, live: Bundle) -> list[dict[str, Any]]:
    names = {node["metadata"]["name"] for node in cluster.get("nodes", "-l", live.selector)}
    return [lease for lease in cluster.get("leases", "-n", "kube-node-lease") if lease["metadata"]["name"] in names]


def nodes_of(cluster: Cluster, config: str) -> set[str]:
    """The nodes that a controller's own selector finds."""
    (line,) = (line for line in config.splitlines() if "manageNodesWithLabelSelector" in line)
    selector = line.split(":", 1)[1].strip().strip('"')
    return {node["metadata"]["name"] for node in cluster.get("nodes", "-l", selector)}


@pytest.mark.newest
@pytest.mark.parametrize(
    "right", [("", "pods/status", "patch", ""), ("coordination.k8s.io", "leases", "update", "kube-node-lease")], ids=str
)
def test_a_right_that_is_taken_away_is_seen(right: Right, own: Cluster, tmp_path: Path) -> None:
    """The log that the other tests read says `forbidden`."""
    folder = bundle("quickstart", own.minor, tmp_path / "b")
    with removing.applied(own, folder, ready=False, take=lambda cluster, taken: without(right, cluster, taken)) as live:
        until(lambda: [line for line in errors_of_kwok(own, live) if "forbidden" in line], 60, f"{right} forbidden")


def without(right: Right, cluster: Cluster, taken: Bundle) -> None:
    """Applies the bundle with a role that lacks one verb."""
    running.apply(cluster, taken)
    group, resource, verb, namespace = right
    kind = ("role", "-n", namespace) if namespace else ("clusterrole",)
    (role,) = cluster.get(kind[0], f"kwok-{taken.name}", *kind[1:])
    for rule in role["rules"]:
        if rule["apiGroups"] == [group] and rule["resources"] == [resource]:
            # No rule may be without a verb.
            rule["verbs"] = [other for other in rule["verbs"] if other != verb] or ["get"]
    cluster.kubectl("replace", "-f", "-", stdin=json.dumps(role))


def test_a_bundle_is_read_with_its_shards(minor: str, tmp_path: Path) -> None:
    """Two shards are two controllers, each with its own nodes."""
    live = bundles.read(written("two", minor, tmp_path / "b", LONG))
    assert [controller.name for controller in live.controllers] == ["kwok-two", "kwok-two-1"]
    assert len({controller.config for controller in live.controllers}) == 2
