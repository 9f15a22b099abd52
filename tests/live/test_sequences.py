"""Repeated faults, steps of faults, nodes that are slow to join, and nodes that are replaced, as a watch sees them on real KWOK."""

import json
import os
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import jq
import pytest
from ruamel.yaml import YAML

from kwokgen.timeline import Moment, timeline
from testbed import programs, running
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from tests.live.conftest import Applied
from tests.live.rendering import written
from tests.live.test_bundles import INSTANT, errors_of_kwok
from tests.live.test_faults import LATE, LEASE, SECONDS, age_of, nodes, of_these, rendered
from tests.live.test_playing import restart
from tests.live.watching import running_pods, until

pytestmark = pytest.mark.live


class Seen(NamedTuple):
    """What a watch said of a node, and the node's age at that time in seconds."""

    type: str
    name: str
    uid: str
    age: float
    node: dict[str, Any]

    def mark(self, key: str) -> str:
        """An annotation of a fault."""
        return str(self.node["metadata"]["annotations"].get(f"kwokgen.io/fault-{key}", ""))

    @property
    def ready(self) -> str:
        found = [each["status"] for each in self.node["status"].get("conditions", ()) if each["type"] == "Ready"]
        return found[0] if found else ""

    @property
    def state(self) -> str:
        """The GPU operator's state, what keeps pods away, and whether that puts them out."""
        spec, labels = self.node["spec"], self.node["metadata"]["labels"]
        cordon = " cordoned" if spec.get("unschedulable") else ""
        drained = any(each["key"] == "kwokgen.io/drain" for each in spec.get("taints", ()))
        return labels.get("nvidia.com/gpu-driver-upgrade-state", "") + cordon + (" drained" if drained else "")


class Watch:
    """Everything that the API server says of a bundle's nodes, and of their events, in order, until it is closed."""

    def __init__(self, cluster: Cluster, live: Bundle) -> None:
        self.cluster, self.live = cluster, live
        self.found: list[Seen] = []
        self.events: list[dict[str, Any]] = []
        self.running = [
            self._start(self._node, "nodes", "-l", live.selector),
            self._start(lambda change: self.events.append(change["object"]), "events", "-n", "default"),
        ]

    def _start(self, take: Callable[[Any], None], *what: str) -> tuple[subprocess.Popen[bytes], threading.Thread]:
        kubectl = str(programs.path(f"kubernetes-{self.cluster.minor}", "kubectl"))
        command = [kubectl, "get", *what, "--watch", "--output-watch-events", "-o", "json"]
        environment = os.environ | {"KUBECONFIG": str(self.cluster.kubeconfig), "HOME": str(self.cluster.folder)}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
        thread = threading.Thread(target=_read, args=(process, take))
        thread.start()
        return process, thread

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process, thread in self.running:
            process.terminate()
            process.wait()
            thread.join()

    def _node(self, change: Any) -> None:
        node, meta = change["object"], change["object"]["metadata"]
        self.found.append(Seen(change["type"], meta["name"], meta["uid"], age_of(node), node))

    def until(self, age: float) -> None:
        """Waits until the youngest node has an age."""
        there = min(map(age_of, nodes(self.cluster, self.live).values()))
        time.sleep(max(0.0, age - there))

    def changes(self, name: str, what: Any) -> list[tuple[str, float]]:
        """What is seen of a node whenever it is another than before, with the ages."""
        found: list[tuple[str, float]] = []
        for each in list(self.found):
            if each.name == name and (said := what(each)) != (found[-1][0] if found else ""):
                found.append((said, each.age))
        return found

    def faults(self, name: str, fault: str) -> list[tuple[str, float]]:
        """How far a fault is, by its annotations."""
        parts = (fault, f"{fault}.step", f"{fault}.round")
        return self.changes(name, lambda each: " ".join(filter(None, map(each.mark, parts))))


def _read(process: subprocess.Popen[bytes], take: Callable[[Any], None]) -> None:
    """A change a line."""
    assert process.stdout
    with process.stdout as lines:
        for line in lines:
            take(json.loads(line))


SPEC = """
controller: {nodeLeaseDuration: 10s}
lifecycles:
- {name: steady, nodes: heartbeat-lease}
- {name: beating, nodes: heartbeat, heartbeat: 2s}
- {name: slow, nodes: slow-start, ready: {min: 20s, max: 40s}}
- {name: normal, pods: timed}
pools:
- {name: a, count: 7, machine: {cpu: 8, memory: 64Gi}, gpus: {model: h100-sxm5-80gb, count: 2}, expose: extended-resource, gpuOperatorLabels: true}
- {name: beat, count: 1, machine: {cpu: 8, memory: 64Gi}, lifecycle: beating}
- {name: dra, count: 1, machine: {cpu: 8, memory: 64Gi}, gpus: {model: h100-sxm5-80gb, count: 2}}
- {name: slow, count: 4, machine: {cpu: 8, memory: 64Gi}, lifecycle: slow}
faults:
- {name: flap, fault: node-not-ready, where: {pool: a, nodes: [0]}, start: {after: 30s}, for: 5s, repeat: {every: 12s, times: 3}}
- name: driver
  fault: driver-upgrade-required
  where: {pool: a, nodes: [1]}
  start: {after: 30s}
  for: 5s
  then:
  - {fault: driver-upgrade-cordon, for: 5s}
  - {fault: driver-upgrade-pod-deletion, for: 5s, effects: {taint: true}}
  - {fault: driver-upgrade-validation, for: 5s}
  - {fault: driver-upgrade-done, for: 5s}
- name: by-hand
  fault: driver-upgrade-cordon
  where: {pool: a, nodes: [2]}
  start: {manual: true}
  for: 5s
  then: [{fault: driver-upgrade-pod-restart, for: 5s}, {fault: driver-upgrade-failed}]
- {name: on-and-off, fault: cordoned, where: {pool: a, nodes: [3]}, start: {manual: true}, for: 3s, repeat: {every: 9s}}
- {name: cordon, fault: cordoned, where: {pool: a, nodes: [4]}, start: {after: 30s}, for: 10s}
- {name: late, fault: cordoned, where: {pool: a, nodes: [5]}, start: {after: 75s}, for: 15s, then: [{fault: driver-upgrade-required, for: 15s}]}
- {name: long, fault: node-not-ready, where: {pool: a, nodes: [6]}, start: {after: 75s}, for: 5s, repeat: {every: 25s, times: 2}}
- {name: beaten, fault: node-not-ready, where: {pool: beat}, start: {after: 30s}, for: 8s, repeat: {every: 20s, times: 2}}
- {name: gpu, fault: xid-79, where: {pool: dra, gpus: [1]}, start: {after: 30s}, for: 5s, repeat: {every: 12s, times: 2}}
"""
PLANNED = {
    "flap": "a-0",
    "driver": "a-1",
    "cordon": "a-4",
    "late": "a-5",
    "long": "a-6",
    "beaten": "beat-0",
    "gpu": "dra-0",
}
REASONS = {"NodeNotReady", "NodeNotSchedulable", "GPUDriverUpgrade", "XidError"}
BY_HAND = {"by-hand": "a-2", "on-and-off": "a-3"}
STATES = [
    "upgrade-required",
    "cordon-required cordoned",
    "pod-deletion-required cordoned drained",
    "validation-required cordoned",
    "validation-required",  # somebody uncordons it
    "validation-required cordoned",
    "upgrade-done",
    "",
]
"""Of a node with a new driver: between two that keep pods away there is none that lets them come."""
AWAY = 82
"""The age at which KWOK ends; another plays nothing until the leases of the first have ended."""


@pytest.mark.newest
def test_faults_that_are_repeated_and_that_follow_one_another(
    cluster: Cluster, applied: Applied, tmp_path: Path
) -> None:
    """As often, in the order and at the times that the plan says, and nothing after that; also when KWOK was restarted."""
    folder = written("sequences", cluster.minor, tmp_path / "b", SPEC)
    plan = timeline(rendered(folder).cluster)
    with applied(folder, ready=False) as live, Watch(cluster, live) as watch:
        watch.until(45)
        cluster.kubectl("uncordon", "a-1")
        switch(cluster, plan, "on")
        watch.until(49)
        cluster.kubectl("patch", "node", "a-0", "--subresource=status", "-p", OUTAGE)
        watch.until(70)
        switch(cluster, plan, "off")
        watch.until(AWAY)
        (kwok,) = (process for process in cluster.running if process.name == live.controllers[0].name)
        cluster.end(kwok)
        restart(cluster, live, live.controllers[0].name)
        back = max(map(age_of, nodes(cluster, live).values())) + LEASE
        watch.until(125)
        for fault, name in PLANNED.items():
            in_time(watch.faults(name, fault), list(planned(plan, fault)), back)
        assert [state for state, _ in watch.changes("a-1", lambda each: each.state)] == STATES
        by_hand(watch, "a-2", "by-hand", [0, 5, 10])
        by_hand(watch, "a-3", "on-and-off", [9 * number + more for number in range(5) for more in (0, 3)])
        ready = [state for state, _ in watch.changes("a-0", lambda each: each.ready)]
        assert ready == ["True", "False", "True", "False", "True", "Unknown", "True", "False", "True"]
        joined(watch)
        assert counted(watch) == begun(watch)
        left(cluster, live)
        assert errors_of_kwok(cluster, live) == []


OUTAGE = json.dumps({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}})
"""What the controller manager says of a node that it does not hear of: one with faults to come is healed all the same."""


def switch(cluster: Cluster, plan: tuple[Moment, ...], to: str) -> None:
    """The commands that are printed."""
    for command in (each.command for each in plan if f"={to} " in each.command):
        cluster.kubectl(*command.split()[1:])


def planned(plan: tuple[Moment, ...], fault: str) -> Iterator[tuple[str, int]]:
    """What the plan says of a fault as its annotations do, with the ages."""
    own = [each for each in plan if each.fault == fault]
    steps = sum(each.what != ("recovers",) for each in own)
    for number in range(own[0].times or 1):
        for step, each in enumerate(own, start=1):
            words = ["over" if each.what == ("recovers",) else "active"]
            words += [str(min(step, steps))] if steps > 1 else []
            words += [str(number + 1)] if each.every else []
            yield " ".join(words), each.seconds + number * (each.every or 0)


def in_time(found: list[tuple[str, float]], expected: list[tuple[str, int]], back: float) -> None:
    assert [state for state, _ in found] == [state for state, _ in expected]
    for (state, age), (_, due) in zip(found, expected, strict=True):
        assert due <= age <= (back if AWAY < due < back else due) + LATE, state


def by_hand(watch: Watch, name: str, fault: str, due: list[int]) -> None:
    """Counted from the begin that it notes, up to the command that ends it, after which there is no other."""
    found = watch.faults(name, fault)
    assert [state.split()[0] for state, _ in found].count("over") >= 1
    assert found[-1][0].split()[0] == "over"
    noted = [
        (each.mark(f"{fault}.since"), each.node["metadata"]["creationTimestamp"])
        for each in watch.found
        if each.name == name
    ]
    (began,) = {int(since) - datetime.fromisoformat(created).timestamp() for since, created in noted if since}
    for (_, age), after in zip(found[:-1], due, strict=False):
        assert after <= age - began <= after + LATE


def joined(watch: Watch) -> None:
    """NotReady at first, then Ready at the second that is drawn for each."""
    stages = YAML(typ="safe").load_all(watch.live.controllers[0].config)
    (stage,) = (each for each in stages if each.get("metadata", {}).get("name", "").endswith("-slow-ready"))
    drawn = jq.compile(stage["spec"]["delay"]["durationFrom"]["expressionFrom"])
    for name in (f"slow-{index}" for index in range(4)):
        (first, _), (then, age) = watch.changes(name, lambda each: each.ready)
        assert (first, then) == ("False", "True")
        node = nodes(watch.cluster, watch.live)[name]
        due = datetime.fromisoformat(drawn.input_value(node).first())
        due = (due - datetime.fromisoformat(node["metadata"]["creationTimestamp"])).total_seconds()
        assert 20 <= due <= 40
        assert due <= age <= due + LATE


def counted(watch: Watch) -> dict[str, int]:
    """How often each node was said to have a fault, by kwok: the controller manager has one of the same reasons as well.

    What is said again in the same instant is one (README, Known limits).
    """
    said: dict[str, dict[str, set[datetime]]] = defaultdict(lambda: defaultdict(set))
    for event in of_these(watch.cluster, watch.live, list(watch.events)):
        name, own = event["involvedObject"]["name"], event["source"].get("component", "").startswith("kwok")
        if own and event["reason"] in REASONS:
            said[name][event["metadata"]["uid"]].add(datetime.fromisoformat(event["lastTimestamp"]))
    return {name: sum(map(instants, times.values())) for name, times in said.items()}


def instants(times: set[datetime]) -> int:
    """How many of them come later than an instant after the one before, and the first."""
    return 1 + sum((time - before).total_seconds() > INSTANT for before, time in pairwise(sorted(times)))


def begun(watch: Watch) -> dict[str, int]:
    """How many times a fault, or a step of one, was seen to begin."""
    every = (PLANNED | BY_HAND).items()
    return {name: sum("active" in state for state, _ in watch.faults(name, fault)) for fault, name in every}


def left(cluster: Cluster, live: Bundle) -> None:
    """Nodes and devices as they were born, and no moment that a next command would count from."""
    for name, node in nodes(cluster, live).items():
        assert not any(key.endswith(".since") for key in node["metadata"]["annotations"]), name
        assert not node["spec"].get("unschedulable"), name
        assert len(node["spec"]["taints"]) == 1, name
    (devices,) = cluster.get("resourceslices", "-l", live.selector)
    assert devices["metadata"]["annotations"]["kwokgen.io/fault-gpu.round"] == "2"
    assert not any(each.get("taints") for each in devices["spec"]["devices"])


GONE = """
controller: {nodeLeaseDuration: 10s}
pools:
- {name: hand, count: 1, machine: {cpu: 8, memory: 64Gi}}
- {name: aged, count: 1, machine: {cpu: 8, memory: 64Gi}}
- {name: dated, count: 1, machine: {cpu: 8, memory: 64Gi}}
workloads: [{name: long, kind: job, pods: 1, pools: [hand], run: 1h}]
faults:
- {name: hand, fault: node-gone, where: {pool: hand}, start: {manual: true}}
- {name: aged, fault: node-not-ready, where: {pool: aged}, start: {after: 20s}, for: 5s, then: [{fault: node-gone}]}
- {name: dated, fault: node-gone, where: {pool: dated}, start: {at: "%s"}}
"""
COLLECTED = 120
"""The controller manager looks every 20 s for pods of nodes that are gone, and waits 40 s before it believes it."""


@pytest.mark.newest
def test_nodes_that_are_replaced(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """A node goes with its pods; an apply brings another, which goes again only where its own age says so."""
    moment = (datetime.now(UTC) + timedelta(seconds=40)).isoformat(timespec="seconds")
    folder = written("replaced", cluster.minor, tmp_path / "b", GONE % moment)
    with applied(folder, ready=False) as live:
        until(lambda: len(running_pods(cluster)) == 1, SECONDS, "the pod is running")
        before = running_pods(cluster).keys()
        (command,) = (each.command for each in timeline(rendered(folder).cluster) if each.command)
        cluster.kubectl(*command.split()[1:])
        until(lambda: "hand-0" not in nodes(cluster, live), LATE, "the node is gone by hand")
        until(lambda: not nodes(cluster, live), SECONDS, "the others are gone in their time")
        assert datetime.now(UTC) >= datetime.fromisoformat(moment)
        until(lambda: not before & running_pods(cluster).keys(), COLLECTED, "the pod is gone")
        cluster.kubectl("apply", "-f", str(folder))
        until(lambda: not running.progress(cluster, live).unready, 15, "the new nodes are Ready")
        new = {name: node["metadata"]["uid"] for name, node in nodes(cluster, live).items()}
        assert new.keys() == {"hand-0", "aged-0", "dated-0"}
        until(lambda: len(running_pods(cluster)) == 1, SECONDS, "its successor is running")
        until(lambda: "aged-0" not in nodes(cluster, live), 25 + LATE, "the new node is gone at the same age")
        time.sleep(10)
        left = {name: node["metadata"]["uid"] for name, node in nodes(cluster, live).items()}
        assert left == {name: uid for name, uid in new.items() if name != "aged-0"}
        assert errors_of_kwok(cluster, live) == []
