"""What the scheduler makes of every sort of device and claim: how many pods run, and which devices they have.

The figures are those of the examples' own comments. Jobs are started one after the other, as the scheduler takes pods
in no order that a test could rely on.
"""

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kwokgen import sink
from kwokgen.pipeline import render
from kwokgen.problem import KwokgenError
from testbed import bundle as bundles
from testbed import removing, running
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from tests.live.rendering import ROOT, bundle, written
from tests.live.test_bundles import errors_of_kwok, not_unchanged
from tests.live.watching import until

pytestmark = pytest.mark.live

SECONDS = 40


class Step(NamedTuple):
    """A workload that is started, how many of its pods run then, and how many wait for others of their gang with a place."""

    workload: str
    running: int
    reserved: int = 0


Held = dict[str, list[tuple[str, str]]]
"""By pod: the pools and names of its devices."""


def nothing(_held: Held, _cluster: Cluster) -> None:
    pass


def numbers(name: str) -> set[str]:
    return set(filter(str.isdigit, name))


def pairs(held: Held, _cluster: Cluster) -> None:
    """The n-th GPU shares a root with the n-th card."""
    for devices in held.values():
        (gpu, nic) = sorted(device for _, device in devices)
        assert numbers(gpu) == numbers(nic)


def best_first(held: Held, _cluster: Cluster) -> None:
    taken = Counter((pool, len(devices)) for devices in held.values() for pool, _ in devices[:1])
    assert taken == {("best-0", 1): 2, ("second-0", 2): 1}


def cut(held: Held, _cluster: Cluster) -> None:
    names = Counter(device.split("-mig-")[1].split("-")[0] for devices in held.values() for _, device in devices)
    assert names["3g40gb"] == 1
    assert names["1g10gb"] == 4


def on_the_rack(_held: Held, cluster: Cluster) -> None:
    pods = cluster.get("pods", "--all-namespaces", "--field-selector=status.phase=Running")
    assert {pod["spec"]["nodeName"] for pod in pods} <= {"rack-0-0", "rack-0-1"}


def all_but_the_ailing(held: Held, _cluster: Cluster) -> None:
    tolerant = [devices for pod, devices in held.items() if pod.startswith("any-")]
    healthy = [device for pod, devices in held.items() if pod.startswith("healthy-") for device in devices]
    assert ("ailing-0", "gpu-0") not in healthy
    assert ("ailing-1", "gpu-3") not in healthy
    assert tolerant == [[("ailing-0", "gpu-0")]]


def watched(held: Held, _cluster: Cluster) -> None:
    assert {pod.split("-")[0]: len(devices) for pod, devices in held.items()} == {"train": 8, "watch": 8}


def by_resource(_held: Held, cluster: Cluster) -> None:
    pods = cluster.get("pods", "--all-namespaces", "--field-selector=status.phase=Running")
    assert all(pod["status"]["extendedResourceClaimStatus"]["requestMappings"] for pod in pods)


def one_channel_a_node(held: Held, _cluster: Cluster) -> None:
    pools = [pool for devices in held.values() for pool, device in devices if device == "channel-0"]
    assert sorted(pools) == ["tray-0", "tray-1"]


def distinct(held: Held, _cluster: Cluster) -> None:
    rails = ["a", "a", "b", "b"]
    for devices in held.values():
        assert {rails[int(device[-1])] for _, device in devices} == {"a", "b"}


def one_uplink_a_gang(held: Held, _cluster: Cluster) -> None:
    """The claim for the card is the gang's own, those for GPUs are the pods'."""
    assert [pool for pool, _ in held.pop("first-0")] == ["dra-gang-uplink"]
    assert len(held) == 6
    assert all(len(devices) == 1 for devices in held.values())


EXAMPLES: dict[str, tuple[list[Step], Callable[[Held, Cluster], None]]] = {
    "dra-mig-static": ([Step("small", 8), Step("large", 2)], nothing),
    "dra-mig-dynamic": ([Step("small", 4), Step("large", 1), Step("whole", 0)], cut),
    "dra-capacity-sharing": ([Step("ten", 8)], nothing),
    "dra-first-available": ([Step("train", 3)], best_first),
    "dra-gpu-and-nic": ([Step("pairs", 8)], pairs),
    "dra-admin-access": ([Step("train", 1), Step("watch", 1)], watched),
    "dra-extended-resource": ([Step("legacy", 4)], by_resource),
    "dra-rack-devices": ([Step("uplink", 2)], on_the_rack),
    "dra-device-health": ([Step("healthy", 6), Step("any", 1)], all_but_the_ailing),
    "dra-compute-domain": ([Step("domain", 2)], one_channel_a_node),
    "dra-gang": ([Step("first", 6), Step("second", 0)], one_uplink_a_gang),
    "dra-constraints": ([Step("two", 2), Step("three", 0)], distinct),
    "gang-native": ([Step("first", 24), Step("second", 0), Step("alone", 8)], nothing),
}


ON_1_35 = {"gang-native": [Step("first", 24), Step("second", 0, reserved=8), Step("alone", 0)]}
"""Where the pods of a gang that waits keep what they have found, for five minutes, and nobody else gets it."""
WITHOUT = {"dra-gang": {"1.33", "1.34", "1.35"}}
"""The minors that lack a feature of an example, where that is not the first two alone."""


def test_every_example_of_dra_is_held() -> None:
    """Or nobody knows whether its comments are true."""
    files = {file.stem for file in (ROOT / "blueprints").glob("dra-*.yaml")}
    assert files - {"dra-workshop"} == EXAMPLES.keys() - {"gang-native"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_scheduler_gives_what_the_example_says(name: str, gated: Cluster, tmp_path: Path) -> None:
    """The server takes it without a warning and once; so many pods run, with these devices; the others wait."""
    steps, holds = EXAMPLES[name]
    steps = ON_1_35.get(name, steps) if gated.minor == "1.35" else steps
    folder = held_back(name, gated.minor, tmp_path / name, [step.workload for step in steps])
    if folder is None:
        return
    taken(gated, folder)
    with removing.applied(gated, folder) as live:
        assert not_unchanged(gated, folder) == []
        for step in steps:
            start(gated, step.workload)
            settled(gated, step)
        holds(devices_of(gated), gated)
        assert errors_of_kwok(gated, live) == []


def taken(cluster: Cluster, folder: Path) -> None:
    """The server takes every object as it is, without a warning."""
    cluster.kubectl("apply", "-f", str(folder / "00-namespace.yaml"))
    assert cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", str(folder)).stderr == ""


def held_back(name: str, minor: str, folder: Path, workloads: list[str]) -> Path | None:
    """The bundle with its jobs suspended and running for ever; None where the minor lacks a feature, which is said."""
    sets = [f'kubernetes="{minor}"']
    sets += [f"workloads.{workload}.{part}" for workload in workloads for part in ("suspend=true", "run=1h")]
    file = str(ROOT / "blueprints" / f"{name}.yaml")
    if minor in WITHOUT.get(name, {"1.33", "1.34"}) and (lacking := refused(file, sets)):
        assert lacking == {"feature"}
        return None
    done = render(file, sets=sets)
    sink.to_folder(done.bundle(), folder)
    return folder


def refused(file: str, sets: list[str]) -> set[str]:
    try:
        render(file, sets=sets)
    except KwokgenError as error:
        return {problem.code for problem in error.problems}
    return set()


def start(cluster: Cluster, workload: str) -> None:
    (job,) = [job for job in cluster.get("jobs", "--all-namespaces") if job["metadata"]["name"] == f"{workload}-0"]
    cluster.kubectl(
        "patch",
        "job",
        f"{workload}-0",
        "-n",
        job["metadata"]["namespace"],
        "-p",
        json.dumps({"spec": {"suspend": False}}),
    )


def settled(cluster: Cluster, step: Step) -> None:
    """As many pods run as should, also a moment later, and the scheduler has tried all others."""
    deadline = time.monotonic() + SECONDS
    while (
        not (ready := states(cluster, step.workload))
        or ready["Running"] != step.running
        or ready["untried"] != step.reserved
    ):
        assert time.monotonic() < deadline, f"{step}: {dict(ready)}"
        time.sleep(0.3)
    time.sleep(1)
    assert states(cluster, step.workload)["Running"] == step.running


def states(cluster: Cluster, workload: str) -> Counter[str]:
    pods = cluster.get("pods", "--all-namespaces", "-l", f"batch.kubernetes.io/job-name={workload}-0")
    return Counter(pod["status"]["phase"] if tried(pod) else "untried" for pod in pods)


def tried(pod: dict[str, Any]) -> bool:
    return pod["status"]["phase"] == "Running" or any(
        condition["type"] == "PodScheduled" and condition.get("reason") == "Unschedulable"
        for condition in pod["status"].get("conditions", ())
    )


def devices_of(cluster: Cluster) -> Held:
    held: Held = {}
    for claim in cluster.get("resourceclaims", "--all-namespaces"):
        results = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ())
        for user in claim.get("status", {}).get("reservedFor", ()):
            held.setdefault(user["name"], []).extend((result["pool"], result["device"]) for result in results)
    return held


def test_the_workshop_ends(gated: Cluster, tmp_path: Path) -> None:
    """Everything at once: every job has its devices in its turn, and completes."""
    folder = tmp_path / "b"
    if gated.minor == "1.33":
        assert refused(str(ROOT / "blueprints" / "dra-workshop.yaml"), ['kubernetes="1.33"']) == {"feature"}
        return
    taken(gated, bundle("dra-workshop", gated.minor, folder))
    with removing.applied(gated, folder) as live:
        running.wait(gated, live, jobs=True, limit=150)
        assert set(running.progress(gated, live).jobs.values()) == {"Complete"}
        assert not_unchanged(gated, folder) == []
        assert errors_of_kwok(gated, live) == []


TABLES = {"a100-sxm4-40gb": "5 20", "h100-sxm5-80gb": "10 40", "h200-sxm5-141gb": "18 71", "b200": "23 90"}
"""By model: the gigabytes of its 1g and of its 3g."""


ORDERS = ((("large", "3g", 1, 1), ("rest", "1g", 8, 3)), (("small", "1g", 4, 4), ("last", "3g", 2, 1)))
"""In turn: a job, its profile, its pods, and how many of them run."""


def mixes() -> str:
    """A pool of one GPU a model, with jobs that fill it in either order."""
    parts: dict[str, list[str]] = {"pools": [], "claims": [], "workloads": []}
    for number, (model, sizes) in enumerate(TABLES.items()):
        gigabytes = dict(zip(("1g", "3g"), sizes.split(), strict=True))
        gpus = f"{{model: {model}, count: 1, partitions: {{mode: dynamic}}}}"
        parts["pools"].append(f"{{name: mig-{number}, count: 1, machine: {{cpu: 96, memory: 1Ti}}, gpus: {gpus}}}")
        for profile, size in gigabytes.items():
            request = f"{{deviceClassName: mig.nvidia.com, profile: {profile}.{size}gb}}"
            parts["claims"].append(f"{{name: {profile}-{number}, requests: [{request}]}}")
        for name, profile, pods, _ in (job for order in ORDERS for job in order):
            asks = f"pools: [mig-{number}], claims: [{profile}-{number}]"
            parts["workloads"].append(
                f"{{name: {name}-{number}, kind: job, pods: {pods}, {asks}, run: 1h, suspend: true}}"
            )
    return "\n".join(f"{key}: [{', '.join(items)}]" for key, items in parts.items())


def test_mixes_of_every_table(gated: Cluster, tmp_path: Path) -> None:
    """Four 1g and then a 3g fill a GPU; a 3g that comes first begins at slice 0 and leaves room for three 1g."""
    with removing.applied(gated, written("mixes", gated.minor, tmp_path / "b", mixes())):
        for order in ORDERS:
            for name, _, _, running in order:
                for number, _ in enumerate(TABLES):
                    start(gated, f"{name}-{number}")
                for number, _ in enumerate(TABLES):
                    settled(gated, Step(f"{name}-{number}", running))
            jobs = [f"{name}-{number}-0" for name, *_ in order for number, _ in enumerate(TABLES)]
            gated.kubectl("delete", "jobs", *jobs, "-n", "mixes")
            until(lambda: not gated.get("pods", "-n", "mixes"), SECONDS, "the pods of the first order are gone")


GANG = """
pools: [{name: gpu, count: 2, machine: {cpu: 64, memory: 512Gi}, gpus: {model: l40s, count: COUNT}}]
claims: [{name: gpu, requests: [{deviceClassName: gpu.nvidia.com}]}]
workloads: [{name: train, kind: job, pods: 7, gang: true, claims: [gpu], run: 1h, suspend: true}]
"""


def test_a_gang_starts_whole_or_not_at_all(gated: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven pods have six GPUs and wait, all of them, as kwokgen says before; with eight they run."""
    if gated.minor in {"1.33", "1.34"}:
        with pytest.raises(KwokgenError, match="gangs of its own"):
            written("gang", gated.minor, tmp_path / "b", GANG.replace("COUNT", "3"))
        return
    with pytest.raises(KwokgenError, match="a gang of 7 pods has not room at once: all nodes together hold 6"):
        written("gang", gated.minor, tmp_path / "a", GANG.replace("COUNT", "3"))
    with monkeypatch.context() as unchecked:
        unchecked.setattr("kwokgen.checks.check", lambda _, **__: ())
        small = written("gang", gated.minor, tmp_path / "b", GANG.replace("COUNT", "3"))
    with removing.applied(gated, small):
        start(gated, "train")
        # On 1.35 only the pod without a GPU is told so; the others wait for it, reserved.
        until(lambda: states(gated, "train")["Pending"] > 0, SECONDS, "the scheduler has tried the gang")
        time.sleep(1)
        assert states(gated, "train")["Running"] == 0
        larger = written("gang", gated.minor, tmp_path / "c", GANG.replace("COUNT", "4"))
        gated.kubectl("apply", "-f", str(larger / "50-slices-gpu.yaml"))
        settled(gated, Step("train", 7))


RULE = """
spec:
  deviceTaintRules:
  - {name: lost, driver: gpu.nvidia.com, pool: ailing, node: 0, device: gpu-1, key: gpu.nvidia.com/gpu-lost, effect: NoExecute}
"""
GONE = """
spec:
  pools:
  - name: ailing
    gpus: {missing: [{nodes: [0], devices: [1]}, {nodes: [1], devices: [3]}]}
"""


def test_a_lost_gpu_is_a_taint_first_then_a_smaller_slice(gated: Cluster, tmp_path: Path) -> None:
    """The rule puts the pod out that has the device, and no other; then the slice may shrink without any pod's notice."""
    name, folder = "dra-device-health", held_back("dra-device-health", gated.minor, tmp_path / "b", ["healthy", "any"])
    assert folder is not None
    with removing.applied(gated, folder) as live:
        start(gated, "healthy")
        settled(gated, Step("healthy", 6))
        before = devices_of(gated)
        (victim,) = [pod for pod, devices in before.items() if ("ailing-0", "gpu-1") in devices]
        again(name, gated, live, tmp_path, RULE)
        until(lambda: victim not in devices_of(gated), SECONDS, "the pod of the lost GPU is gone")
        settled(gated, Step("healthy", 5))
        assert before.keys() - {victim} <= devices_of(gated).keys()
        again(name, gated, live, tmp_path, RULE, GONE)
        settled(gated, Step("healthy", 5))
        gated.kubectl("delete", "devicetaintrules", "--all")
        settled(gated, Step("healthy", 5))


def again(name: str, cluster: Cluster, live: Bundle, folder: Path, *overlays: str) -> None:
    """Applies the slices and rules of another render."""
    files = []
    for number, text in enumerate(overlays):
        files.append(folder / f"overlay-{number}.yaml")
        files[-1].write_text(text)
    sets = [f'kubernetes="{cluster.minor}"']
    done = render(str(ROOT / "blueprints" / f"{name}.yaml"), overlays=[str(file) for file in files], sets=sets)
    for file in done.bundle().files:
        if file.path.startswith(("50-", "60-")):
            cluster.kubectl("apply", "-f", "-", stdin=b"".join(file.pieces()).decode())
    assert bundles.read(live.folder).name == live.name
