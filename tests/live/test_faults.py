"""Faults on real KWOK: what a node, its slices and its events say before, while and after, and when."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kwokgen.catalog import Catalog, Fact
from kwokgen.pipeline import render
from kwokgen.problem import Pos
from kwokgen.timeline import timeline
from testbed import removing, running
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from tests.live.conftest import Applied
from tests.live.rendering import ROOT, bundle, written
from tests.live.test_bundles import INSTANT, documents, errors_of_kwok, not_unchanged
from tests.live.test_dra import taken
from tests.live.test_playing import restart
from tests.live.watching import until

pytestmark = pytest.mark.live

SECONDS = 60
EXAMPLE = str(ROOT / "blueprints" / "fault-drill.yaml")
FEW = 5
"""Faults that are switched by the printed commands."""
PATIENCE = 20
"""The controller manager taints a NotReady node within seconds, and the next one ten seconds later."""
PLAYED_TWICE = re.compile(r'rejected our request due to an error in our request.*-end"')
"""An apply takes the controller manager's taint of a cordoned node as well, which puts it back within milliseconds: KWOK
plays both changes, and its second patch finds nothing to take any more. What the first has done is looked at."""
LATE = 6
"""Seconds that a busy machine may take more."""
NOT_READY = "node.kubernetes.io/not-ready"
MODELS = {"Ampere": "a100-sxm4-80gb", "Hopper": "h100-sxm5-80gb", "Blackwell": "gb200", "Turing": "t4"}
"""A GPU of each architecture that entries name."""
OF_KUBELET = {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"}


class Case(NamedTuple):
    """An entry of the catalogue on a node of its own, with GPUs as DRA devices or as an extended resource."""

    name: str
    entry: Fact
    pool: str
    index: int

    @property
    def node(self) -> str:
        return f"{self.pool}-{self.index}"

    @property
    def dra(self) -> bool:
        return not self.pool.endswith("plugin")

    def effects(self, minor: str) -> dict[str, Any]:
        """Those by default that the minor has."""
        optional = set(self.entry.data.get("optional", ()))
        found = {key: value for key, value in self.entry.data["effects"].items() if key not in optional}
        if minor in {"1.33", "1.34"} and found.get("deviceTaint", {}).get("effect") == "None":
            del found["deviceTaint"]
        return found

    def written(self, minor: str) -> str:
        known = self.entry.data["effects"].keys() - set(self.entry.data.get("optional", ()))
        less = ", ".join(f"{key}: false" for key in sorted(known - self.effects(minor).keys()))
        rest = f", effects: {{{less}}}" if less else ""
        where = f"{{pool: {self.pool}, nodes: [{self.index}]}}"
        return f"{{name: {self.name}, fault: {self.entry.name}, where: {where}, start: {{manual: true}}{rest}}}"


def cases() -> Iterator[Case]:
    """Pools have the GPUs of an architecture and the detector that an entry names first."""
    catalog, sizes = Catalog(), Counter[str]()
    for name in catalog.names("faults"):
        entry = catalog.get("faults", name, Pos("tests"), "fault")
        if "gone" in entry.data["effects"]:  # there is no node to look at: tests/live/test_sequences.py
            continue
        model = MODELS[entry.data.get("architectures", ["Hopper"])[0]] if entry.data["of"] == "gpu" else "none"
        named = [each for each in entry.data["effects"].get("conditions", {}) if each != "kubelet"]
        for suffix in ("dra", "plugin") if "allocatable" in entry.data["effects"] else ("dra",):
            pool = f"{model}-{named[0] if named else 'unwatched'}-{suffix}"
            yield Case(f"{name}-{suffix}", entry, pool, sizes[pool])
            sizes[pool] += 1


CASES = list(cases())


def spec(minor: str) -> str:
    pools = []
    for name, size in Counter(case.pool for case in CASES).items():
        model = next((model for model in MODELS.values() if name.startswith(model)), None)
        rest = name.removeprefix(model or "none").strip("-")
        watched = rest.removesuffix("-dra").removesuffix("-plugin")
        gpus = f", gpus: {{model: {model}, count: 2}}" if model else ""
        expose = ", expose: extended-resource" if name.endswith("plugin") else ""
        detectors = "" if watched == "unwatched" else f", detectors: [{watched}]"
        pools.append(f"{{name: {name}, count: {size}, machine: {{cpu: 8, memory: 64Gi}}{gpus}{expose}{detectors}}}")
    # The Stages of so many are more than a ConfigMap holds.
    return f"controller: {{run: outside}}\npools: [{', '.join(pools)}]\nfaults: [{', '.join(case.written(minor) for case in CASES)}]"


@pytest.mark.newest
def test_every_fault_of_the_catalogue(gated: Cluster, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """All at once: what each entry expects is there, alone, and gone again when it is over."""
    if not pytestconfig.getoption("--matrix"):
        pytest.skip("four minutes for 262 faults: make test-matrix")
    folder = written("faults", gated.minor, tmp_path / "b", spec(gated.minor))
    by_hand = [moment for moment in timeline(rendered(folder).cluster) if moment.command]
    assert len(by_hand) == 2 * len(CASES)
    with removing.applied(gated, folder, limit=180) as live:
        before = settled(gated, live)
        switch(gated, live, "on", [each.command for each in by_hand if "=on " in each.command][:FEW])
        until(lambda: marked(gated, live) == {"active": len(CASES)}, SECONDS, "every fault has begun")
        deadline = time.monotonic() + PATIENCE
        while (wrong := differences(gated.minor, before, seen(gated, live))) and time.monotonic() < deadline:
            time.sleep(1)
        assert wrong == {}
        switch(gated, live, "off", [each.command for each in by_hand if "=off " in each.command][:FEW])
        until(lambda: marked(gated, live) == {"over": len(CASES)}, SECONDS, "every fault is over")
        until(lambda: seen(gated, live) == before, SECONDS, "everything is as before")
        assert [line for line in errors_of_kwok(gated, live) if not PLAYED_TWICE.search(line)] == []


def rendered(folder: Path) -> Any:
    return render(str(folder.with_name(f"{folder.name}.yaml")))


def switch(cluster: Cluster, live: Bundle, to: str, commands: list[str]) -> None:
    """Some by the commands that are printed; kubectl would take minutes for all of them, and an apply does as well."""
    for command in commands:
        program, *arguments = command.split()
        assert program == "kubectl"
        cluster.kubectl(*arguments)
    items = [each for pattern in ("40-*", "50-*") for each in documents(live.folder, pattern)]
    for item in items:
        labels = item["metadata"]["labels"]
        labels |= {key: to for key in labels if is_mark(key)}
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    cluster.kubectl("apply", running.QUICKLY, "-f", "-", stdin=whole)


def marked(cluster: Cluster, live: Bundle) -> dict[str, int]:
    """How many nodes say that their fault is active or over."""
    nodes = cluster.get("nodes", "-l", live.selector)
    said = (value for node in nodes for key, value in node["metadata"]["annotations"].items() if is_mark(key))
    return dict(Counter(said))


def is_mark(key: str) -> bool:
    return key.startswith("kwokgen.io/fault-") and "." not in key.removeprefix("kwokgen.io/")


Seen = dict[str, dict[str, Any]]


def settled(cluster: Cluster, live: Bundle) -> Seen:
    """What is seen when no node has the taint any more that every node has until the controller manager finds it Ready."""
    keys = "-o=jsonpath={.items[*].spec.taints[*].key}"
    until(lambda: NOT_READY not in cluster.kubectl("get", "nodes", "-l", live.selector, keys).stdout, SECONDS, "taints")
    return seen(cluster, live)


def seen(cluster: Cluster, live: Bundle) -> Seen:
    """By node, what faults change of it and of its slice."""
    found: Seen = {}
    for node in cluster.get("nodes", "-l", live.selector):
        meta, status = node["metadata"], node["status"]
        found[meta["name"]] = {
            "conditions": {
                each["type"]: (each["status"], each.get("reason", ""), each.get("message", ""))
                for each in status["conditions"]
                if each["type"] != "KwokgenFault"
            },
            "taints": sorted(
                (each["key"], each.get("value", ""), each["effect"]) for each in node["spec"].get("taints", ())
            ),
            "cordon": node["spec"].get("unschedulable", False),
            "labels": {key: value for key, value in meta["labels"].items() if not key.startswith("kwokgen.io/fault-")},
            "allocatable": status["allocatable"].get("nvidia.com/gpu"),
            "devices": {},
        }
    for each in cluster.get("resourceslices", "-l", live.selector):
        devices = {entry["name"]: entry.get("basic", entry).get("taints", ()) for entry in each["spec"]["devices"]}
        found[each["spec"]["nodeName"]]["devices"] = {
            name: [(taint["key"], taint.get("value", ""), taint["effect"]) for taint in taints]
            for name, taints in devices.items()
        }
    return found


def differences(minor: str, before: Seen, during: Seen) -> dict[str, str]:
    return {case.name: wrong for case in CASES if (wrong := differs(case, minor, before, during))}


def differs(case: Case, minor: str, before: Seen, during: Seen) -> str:
    """What is not as the entry says; `expect` is held against what schedulers look at."""
    wanted, old, new = case.effects(minor), before[case.node], during[case.node]
    changed = {key for key in old if old[key] != new[key]}
    expected = {NAMES[key] for key in wanted if key in NAMES}
    expected -= {"allocatable"} if case.dra else {"devices"}
    told = {type_ for types in wanted.get("conditions", {}).values() for type_ in types}
    # The controller manager taints nodes that are cordoned, or whose kubelet says so.
    expected |= {"taints"} if wanted.get("cordon") or told & OF_KUBELET else set()
    if changed != expected:
        return f"changed {sorted(changed)}, expected {sorted(expected)}"
    closed = new["cordon"] or any(
        effect != "PreferNoSchedule" for _, _, effect in set(new["taints"]) - set(old["taints"])
    )
    if closed != (case.entry.data["expect"]["node"] == "avoided"):
        return f"the node is {'avoided' if closed else 'used'}"
    evicted = any(effect == "NoExecute" for _, _, effect in set(new["taints"]) - set(old["taints"]))
    evicted |= any(effect == "NoExecute" for taints in new["devices"].values() for _, _, effect in taints)
    if evicted != (case.entry.data["expect"]["pods"] == "evicted"):
        return f"pods are {'evicted' if evicted else 'left'}"
    tainted = [name for name, taints in new["devices"].items() if any(effect != "None" for _, _, effect in taints)]
    wants = ["gpu-0"] if case.dra and case.entry.data["expect"].get("gpu") == "avoided" else []
    return "" if tainted == wants else f"devices {tainted} are tainted"


NAMES = {
    "conditions": "conditions",
    "taint": "taints",
    "cordon": "cordon",
    "labels": "labels",
    "allocatable": "allocatable",
    "deviceTaint": "devices",
}


def test_the_drill(gated: Cluster, tmp_path: Path) -> None:
    """The example is taken as it is, its jobs complete beside a node that is born faulty, and a command taints a GPU."""
    folder = bundle("fault-drill", gated.minor, tmp_path / "b")
    taken(gated, folder)
    with removing.applied(gated, folder) as live:
        # kubectl finds the conditions of detectors among others, and says so; the server keeps a node's status.
        assert [line for line in not_unchanged(gated, folder) if not line.startswith("node/")] == []
        running.wait(gated, live, jobs=True, limit=150)
        assert set(running.progress(gated, live).jobs.values()) == {"Complete"}
        (command,) = (each.command for each in timeline(render(EXAMPLE).cluster) if "fault-nvlink=on" in each.command)
        gated.kubectl(*command.split()[1:])
        until(lambda: any(seen(gated, live)["dra-1"]["devices"].values()), SECONDS, "the GPU is tainted")
        assert errors_of_kwok(gated, live) == []


GONE = """
lifecycles: [{name: nodes, nodes: fast}, {name: pods, pods: timed, create: 0s, run: 1h}]
pools: [{name: a, count: 2, machine: {cpu: 8, memory: 64Gi}, gpus: {model: h100-sxm5-80gb, count: 3}}]
claims: [{name: one, requests: [{deviceClassName: gpu.nvidia.com}]}]
workloads: [{name: train, kind: job, pods: 6, claims: [one]}]
faults:
- name: off
  fault: xid-79
  where: {pool: a, nodes: [0], gpus: [0, 2]}
  start: {manual: true}
  for: 4s
  effects: {deviceTaint: NoExecute}
  then: [{fault: xid-79, effects: {deviceGone: true}}]
- {name: none, fault: xid-79, where: {pool: a, nodes: [1], gpus: [0-2]}, start: {manual: true}, effects: {deviceGone: true}}
"""


def test_gpus_are_gone_and_come_back(gated: Cluster, tmp_path: Path) -> None:
    """Pods that have them run on, unless a taint is there first; new ones wait; an apply brings none back too early."""
    folder = written("gone", gated.minor, tmp_path / "b", GONE)
    with removing.applied(gated, folder) as live:
        before = names(gated, live)
        until(lambda: of_phase(gated, "Running") == 6, SECONDS, "every GPU is taken")
        turn(gated, "on")
        until(lambda: names(gated, live) == {"a-0": ["gpu-1"], "a-1": []}, SECONDS, "they are gone")
        until(lambda: (of_phase(gated, "Running"), of_phase(gated, "Pending")) == (4, 2), SECONDS, "two were put out")
        lost = next(each for each in gated.get("pods", "-n", "gone") if each["spec"].get("nodeName") == "a-1")
        gated.kubectl("delete", "pod", lost["metadata"]["name"], "-n", "gone")
        until(lambda: (of_phase(gated, "Running"), of_phase(gated, "Pending")) == (3, 3), SECONDS, "the new one waits")
        healed = (folder / "50-slices-a.yaml").read_text().replace(": armed", ': "on"')
        gated.kubectl("apply", "-f", "-", stdin=healed)
        until(lambda: names(gated, live) == {"a-0": ["gpu-1"], "a-1": []}, SECONDS, "they are gone again")
        turn(gated, "off")
        until(lambda: names(gated, live) == before, SECONDS, "they are back")
        slices = gated.get("resourceslices", "-l", live.selector)
        assert [device for each in slices for device in each["spec"]["devices"] if device.get("taints")] == []
        assert errors_of_kwok(gated, live) == []


def names(cluster: Cluster, live: Bundle) -> dict[str, list[str]]:
    """By node, its devices."""
    slices = cluster.get("resourceslices", "-l", live.selector)
    return {
        each["spec"]["nodeName"]: sorted(one["name"] for one in each["spec"].get("devices") or ()) for each in slices
    }


def turn(cluster: Cluster, to: str) -> None:
    for key in ("kwokgen.io/fault-off", "kwokgen.io/fault-none"):
        cluster.kubectl("label", "resourceslice,node", "-l", key, f"{key}={to}", "--overwrite")


def of_phase(cluster: Cluster, phase: str) -> int:
    return len(cluster.get("pods", "-n", "gone", f"--field-selector=status.phase={phase}"))


PLANNED = """
controller: {nodeLeaseDuration: 10s}
pools:
- {name: a, count: 3, machine: {cpu: 8, memory: 64Gi}, gpus: {model: h100-sxm5-80gb, count: 2}, expose: extended-resource}
- {name: b, count: 1, machine: {cpu: 8, memory: 64Gi}, gpus: {model: h100-sxm5-80gb, count: 2}, lifecycle: beating}
lifecycles:
- {name: steady, nodes: heartbeat-lease}
- {name: beating, nodes: heartbeat, heartbeat: 2s}
- {name: normal, pods: timed}
faults:
- {name: first, fault: xid-79, where: {pool: a, nodes: [0]}, start: {after: 20s}, for: 20s, effects: {taint: true, cordon: true}}
- {name: again, fault: xid-79, where: {pool: a, nodes: [0], gpus: [1]}, start: {after: 50s}, for: 10s}
- {name: down, fault: node-not-ready, where: {pool: a, nodes: [1]}, start: {after: 20s}, for: 15s}
- {name: born, fault: xid-79, where: {pool: a, nodes: [2]}, effects: {taint: true}}
- {name: beaten, fault: xid-79, where: {pool: b}, start: {after: 15s}, for: 15s}
"""


TIMES = {
    ("a-0", "first active"): 20, ("a-0", "first over"): 40, ("a-0", "again active"): 50, ("a-0", "again over"): 60,
    ("a-1", "down active"): 20, ("a-1", "down over"): 35, ("b-0", "beaten active"): 15, ("b-0", "beaten over"): 30,
}  # fmt: skip
"""The seconds of a node's life at which its marks turn."""
AWAY = ("a-0", "again over")
"""What KWOK is not there for; a new one plays nothing until the lease of the old has ended."""
LEASE = 10


class Watch:
    """The marks of nodes as they come, each with the age of its node in seconds."""

    def __init__(self, cluster: Cluster, live: Bundle) -> None:
        self.cluster, self.live = cluster, live
        self.found: dict[tuple[str, str], float] = {}

    def until(self, age: float) -> None:
        """Looks until the oldest node has an age."""
        while self.look() < age:
            time.sleep(0.4)

    def look(self) -> float:
        """Notes what is new, and gives the age of the oldest node."""
        there = nodes(self.cluster, self.live)
        for name, node in there.items():
            for key, value in node["metadata"]["annotations"].items():
                if is_mark(key):
                    self.found.setdefault((name, f"{key.removeprefix('kwokgen.io/fault-')} {value}"), age_of(node))
        return max(map(age_of, there.values()))


@pytest.mark.newest
def test_planned_faults_come_and_go_in_time(cluster: Cluster, applied: Applied, tmp_path: Path) -> None:
    """To the second, once each; what an apply heals comes back; a KWOK that was away for the end catches up."""
    folder = written("planned", cluster.minor, tmp_path / "b", PLANNED)
    with applied(folder, ready=False) as live:
        running.wait(cluster, live, jobs=False, limit=SECONDS)
        born = settled(cluster, live)
        assert nodes(cluster, live)["a-2"]["spec"]["taints"][-1]["key"] == "nvidia.com/gpu-error"
        watch = Watch(cluster, live)
        watch.until(30)
        cluster.kubectl("apply", "-f", str(folder / "40-nodes-a.yaml"))
        until(lambda: tainted(cluster, live, "a-0"), 5, "the taint that an apply took is back")
        watch.until(TIMES["a-0", "again active"] + LATE)
        (kwok,) = (process for process in cluster.running if process.name == live.controllers[0].name)
        cluster.end(kwok)
        watch.until(62)
        restart(cluster, live, live.controllers[0].name)
        watch.until(62 + LEASE + LATE)
        assert watch.found.keys() == TIMES.keys()
        assert 60 < watch.found.pop(AWAY) <= 62 + LEASE + LATE
        assert {key: age for key, age in watch.found.items() if not TIMES[key] <= age <= TIMES[key] + LATE} == {}
        assert counted(cluster, live) == {"a-0": 2, "b-0": 1}
        assert seen(cluster, live)["a-2"] == born["a-2"]
        assert errors_of_kwok(cluster, live) == []


def events(cluster: Cluster, live: Bundle) -> list[dict[str, Any]]:
    return of_these(cluster, live, cluster.get("events", "-n", "default"))


def of_these(cluster: Cluster, live: Bundle, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events of nodes as they are now: one of another test may have had the same name."""
    born = {name: node["metadata"]["creationTimestamp"] for name, node in nodes(cluster, live).items()}
    return [
        event for event in found if born.get(event["involvedObject"]["name"], "9") <= (event["firstTimestamp"] or "")
    ]


def counted(cluster: Cluster, live: Bundle) -> dict[str, int]:
    """How often each node was said to have the error; what is said again in the same instant is one (README, Known limits)."""
    found: Counter[str] = Counter()
    for event in events(cluster, live):
        if event["reason"] == "XidError":
            first, last = (datetime.fromisoformat(event[key]) for key in ("firstTimestamp", "lastTimestamp"))
            again = (last - first).total_seconds() > INSTANT
            found[event["involvedObject"]["name"]] += event.get("count", 1) if again else 1
    return dict(found)


def nodes(cluster: Cluster, live: Bundle) -> dict[str, dict[str, Any]]:
    return {node["metadata"]["name"]: node for node in cluster.get("nodes", "-l", live.selector)}


def tainted(cluster: Cluster, live: Bundle, name: str) -> bool:
    return any(taint["key"] == "nvidia.com/gpu-error" for taint in nodes(cluster, live)[name]["spec"]["taints"])


def age_of(node: dict[str, Any]) -> float:
    created = datetime.fromisoformat(node["metadata"]["creationTimestamp"])
    return (datetime.now(UTC) - created).total_seconds()
