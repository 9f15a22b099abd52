"""Kinds of workloads under their own definitions: every object is taken as it is, field for field."""

import shlex
import time
from pathlib import Path
from typing import Any

import pytest

from kwokgen.pipeline import render
from testbed import bundle as bundles
from testbed import definitions as definition
from testbed import kueue, programs, removing
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from testbed.definitions import established
from tests.live.likeness import unlike
from tests.live.rendering import written
from tests.live.test_bundles import errors_of_kwok
from tests.live.watching import phases, until

pytestmark = [pytest.mark.live, pytest.mark.newest]

RAY = "github.com/ray-project/kuberay/ray-operator"
TRAINER = ("github.com/kubeflow/trainer/v2", "manifests/base/crds/trainer.kubeflow.org_{}.yaml")
DEFINITIONS = {
    "appwrapper": (
        ("github.com/project-codeflare/appwrapper", "config/crd/bases/workload.codeflare.dev_appwrappers.yaml"),
    ),
    "pytorchjob": (("github.com/kubeflow/training-operator", "manifests/base/crds/kubeflow.org_pytorchjobs.yaml"),),
    "jobset": (("sigs.k8s.io/jobset", "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml"),),
    "leaderworkerset": (("sigs.k8s.io/lws", "config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml"),),
    "raycluster": ((RAY, "config/crd/bases/ray.io_rayclusters.yaml"),),
    "rayjob": ((RAY, "config/crd/bases/ray.io_rayjobs.yaml"),),
    "trainjob": tuple((TRAINER[0], TRAINER[1].format(kind)) for kind in ("trainjobs", "trainingruntimes")),
    "deployment": (),
    "volcano-job": (),
}
"""By kind, the modules that Kueue's pins and the definitions in them."""
POOLS = """
pools: [{name: gpu, count: 4, machine: p5.48xlarge, expose: extended-resource, taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}]
lifecycles: [{name: n, nodes: fast}, {name: p, pods: timed, create: 0s, run: 5s}]
"""
SPEC = f"""{POOLS}
workloads:
- {{name: plain, kind: KIND}}
- name: full
  kind: KIND
  count: 2
  pods: 4
  gpus: 4
  priority: 10
  labels: {{example.com/team: a}}
  annotations: {{example.com/sort: b}}
  initContainers: [{{name: check}}]
  failures: [{{of: jobs, jobs: [1], after: 2s, exitCode: 1}}]
"""
SECONDS, SETTLED = 60, 4
"""How long something may take, and in which time nobody else is let in: Kueue looks several times a second."""
LONGER = 8
"""Seconds above the run time of `POOLS`, in which a container that was started again could end."""
RUN = "  run: {min: 5s, max: 10s}\n"
ROLES = {
    "jobset": "driver, trainers",
    "leaderworkerset": "leader, worker",
    "pytorchjob": "master, worker",
    "raycluster": "head, big, small",
    "rayjob": "head, workers",
    "volcano-job": "ps, workers",
}
"""Those that the pods of a fourth workload have: the last has two pods, the first no GPU."""
LASTING = {"deployment", "leaderworkerset", "raycluster", "rayjob"}
VOLCANO = """  gang: true
  placement: {within: leaf}
queues: {system: volcano, list: [{name: team, quota: [{pool: gpu, gpus: 32}]}]}
topology: {schemes: [volcano], levels: [{name: leaf, count: 2, nodes: 2}]}
"""
FILES = {"trainjob": ("15-for-workloads.yaml", "80-workloads.yaml")}
"""Where the three jobs are, if not in the last alone."""


@pytest.mark.parametrize("kind", DEFINITIONS)
def test_objects_are_what_their_definition_says(kind: str, cluster: Cluster, tmp_path: Path) -> None:
    files = [str(programs.module_dir("kueue", module) / path) for module, path in DEFINITIONS[kind]]
    files += [str(definition.volcano("jobs"))] if kind == "volcano-job" else []
    definitions = [word for file in files for word in ("-f", file)]
    run = "" if kind in LASTING else RUN
    spec = SPEC.replace("- name: full", f"{roles_of(kind)}- name: full").replace("KIND", kind) + run
    spec += VOLCANO if kind == "volcano-job" else ""
    folder = written("k", cluster.minor, tmp_path / "k", spec)
    if definitions:
        cluster.kubectl("apply", "--server-side", *definitions)
    cluster.kubectl("apply", "-f", str(folder / "00-namespace.yaml"))
    try:
        if definitions:
            established(cluster.kubectl)
        for name in FILES.get(kind, ("80-workloads.yaml",)):
            said = cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", str(folder / name))
            assert said.stderr == ""
            assert len(said.stdout.splitlines()) == 3 + (kind in ROLES)
    finally:
        cluster.kubectl("delete", "-f", str(folder / "00-namespace.yaml"))
        if definitions:
            cluster.kubectl("delete", *definitions)


SCHEMAS = {
    "appwrapper/appwrapper": ("appwrapper", 0, "v1beta2"),
    "jobset/jobset": ("jobset", 0, "v1alpha2"),
    "kubeflow/pytorchjob": ("pytorchjob", 0, "v1"),
    "kubeflow/trainingruntime": ("trainjob", 1, "v1alpha1"),
    "kubeflow/trainjob": ("trainjob", 0, "v1alpha1"),
    "lws/leaderworkerset": ("leaderworkerset", 0, "v1"),
    "ray/raycluster": ("raycluster", 0, "v1"),
    "ray/rayjob": ("rayjob", 0, "v1"),
}
"""By schema of ours, which definition of its kind it is held against, and in which version."""
OF_VOLCANO = {
    "volcano/job": ("jobs", "v1alpha1"),
    "volcano/queue": ("queues", "v1beta1"),
    "volcano/hypernode": ("hypernodes", "v1alpha1"),
}


@pytest.mark.parametrize("name", [*SCHEMAS, *OF_VOLCANO])
def test_our_schemas_say_nothing_else_than_the_definitions(name: str) -> None:
    """Each field of ours is one of theirs, with its type and its words, and what must be there must be."""
    if name in OF_VOLCANO:
        plural, version = OF_VOLCANO[name]
        assert unlike(name, definition.volcano(plural), version) == []
    else:
        kind, place, version = SCHEMAS[name]
        module, path = DEFINITIONS[kind][place]
        assert unlike(name, programs.module_dir("kueue", module) / path, version) == []


QUEUED = f"""{POOLS}
queues: {{system: kueue, list: [{{name: team, quota: [{{pool: gpu, gpus: 16}}]}}]}}
workloads:
- {{name: w, kind: KIND, count: 3, pods: 2, gpus: 4}}
"""
HELD_BACK = ("appwrapper", "jobset", "pytorchjob", "raycluster", "rayjob", "trainjob")
"""Kinds that Kueue lets in by their suspend; Jobs and pods have tests of their own."""
READ_TOO = {
    "rayjob": DEFINITIONS["raycluster"],
    "trainjob": (*DEFINITIONS["jobset"], (TRAINER[0], TRAINER[1].format("clustertrainingruntimes"))),
}
"""By kind, definitions without which Kueue does not begin with it."""


@pytest.mark.parametrize("kind", HELD_BACK)
def test_kueue_lets_in_as_many_as_the_quota_has(kind: str, cluster: Cluster, tmp_path: Path) -> None:
    """Of three of 8 GPUs with a quota of 16, two: with their definitions, and nobody who makes their pods."""
    found = (*DEFINITIONS[kind], *READ_TOO.get(kind, ()))
    files = [str(programs.module_dir("kueue", module) / path) for module, path in found]
    cluster.kubectl("apply", "--server-side", *(word for file in files for word in ("-f", file)))
    established(cluster.kubectl)
    folder = written("k", cluster.minor, tmp_path / "k", QUEUED.replace("KIND", kind))
    live = bundles.read(folder)
    try:
        kueue.start(cluster, live.kueue or {}, [kind])
        cluster.kubectl("apply", "-f", str(folder))
        until(lambda: waiting(cluster, kind) == 1, SECONDS, "two of three are let in")
        time.sleep(SETTLED)
        assert waiting(cluster, kind) == 1
    finally:
        removing.remove(cluster, live)
        cluster.kubectl("delete", *(word for file in files for word in ("-f", file)))


def waiting(cluster: Cluster, kind: str) -> int:
    """How many of a kind are suspended; a PyTorchJob says so in its runPolicy."""
    specs = [each["spec"] for each in cluster.get(kind, "-n", "k")]
    return sum(spec.get("runPolicy", spec).get("suspend", False) for spec in specs)


def roles_of(kind: str) -> str:
    """A workload more, of pods with roles, if the kind has them."""
    if kind not in ROLES:
        return ""
    first, *middle, last = ROLES[kind].split(", ")
    roles = [f"{{name: {first}, gpus: 0}}", *(f"{{name: {name}}}" for name in middle), f"{{name: {last}, pods: 2}}"]
    return f"- {{name: apart, kind: {kind}, gpus: 1, roles: [{', '.join(roles)}]}}\n"


def test_servers_run_until_they_are_deleted(cluster: Cluster, tmp_path: Path) -> None:
    """Longer than any lifecycle's run time, and one whose container fails is restarted in its place."""
    failing = "failures: [{of: jobs, jobs: [1], after: 3s, exitCode: 1, times: 1}]"
    spec = f"{POOLS}workloads: [{{name: serve, kind: deployment, count: 2, pods: 3, gpus: 4, {failing}}}]"
    folder = written("serve", cluster.minor, tmp_path / "b", spec)
    waits = [line for line in (folder / "README.md").read_text().splitlines() if " deployment " in line]
    with removing.applied(cluster, folder) as live:
        cluster.kubectl(*shlex.split(waits[0])[1:])
        first = pods(cluster, live)
        deadline = time.monotonic() + 60
        while restarts(pods(cluster, live)) != {"serve-0": [0, 0, 0], "serve-1": [1, 1, 1]}:
            assert time.monotonic() < deadline, restarts(pods(cluster, live))
            time.sleep(1)
        time.sleep(LONGER)
        cluster.kubectl(*shlex.split(waits[0])[1:])
        assert {pod["status"]["phase"] for pod in pods(cluster, live)} == {"Running"}
        assert names(pods(cluster, live)) == names(first)
        assert errors_of_kwok(cluster, live) == []


def pods(cluster: Cluster, live: Bundle) -> list[Any]:
    return cluster.get("pods", "-n", live.name)


def names(found: list[Any]) -> set[str]:
    return {pod["metadata"]["name"] for pod in found}


def restarts(found: list[Any]) -> dict[str, list[int]]:
    """By job, how often the container of each pod was restarted."""
    done: dict[str, list[int]] = {}
    for pod in found:
        states = pod["status"].get("containerStatuses", ())
        done.setdefault(pod["metadata"]["labels"]["kwokgen.io/job"], []).append(
            sum(each["restartCount"] for each in states)
        )
    return done


def test_servers_that_are_too_many_wait(cluster: Cluster, tmp_path: Path) -> None:
    """Three pods of 5 GPUs on two nodes of 8: kwokgen warns of one, and one waits."""
    spec = POOLS.replace("count: 4", "count: 2") + "workloads: [{name: five, kind: deployment, pods: 3, gpus: 5}]"
    folder = written("five", cluster.minor, tmp_path / "b", spec)
    (said,) = render(str(tmp_path / "b.yaml")).warnings
    assert said.message.startswith("no room for 1 of 3 pods: the sums fit")
    with removing.applied(cluster, folder) as live:
        until(lambda: phases(cluster, live) == {"Running": 2, "Pending": 1}, 40, "two pods run")
        time.sleep(5)
        assert phases(cluster, live) == {"Running": 2, "Pending": 1}
        (waiting,) = [pod for pod in pods(cluster, live) if pod["status"]["phase"] == "Pending"]
        assert any("Insufficient nvidia.com/gpu" in each.get("message", "") for each in waiting["status"]["conditions"])
