"""The testbed cleans up after itself, however it ends."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from testbed import bundle, operators, programs, readiness, removing
from testbed.bundle import TRUE_CONDITIONS, Awaited
from testbed.cluster import Cluster
from testbed.processes import Process
from testbed.readiness import RACE, NotReadyError
from tests.live.rendering import written

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
NEWEST = programs.minors()[-1]


def processes_naming(text: Path) -> list[str]:
    """The command lines that name a folder; a zombie has none."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(text) in command:
            found.append(command)
    return found


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


class Standing:
    """`python -m testbed` with a state folder of its own and the programs that are built already."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.folder = cache / "clusters" / "default"
        for shared in ("bin", "go"):
            (cache / shared).symlink_to(programs.cache_root() / shared)

    def command(self, *arguments: str) -> "subprocess.Popen[str]":
        environment = os.environ | {"KWOKGEN_CACHE": str(self.cache), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "testbed", *arguments]
        return subprocess.Popen(
            command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.cache
        )

    def run(self, *arguments: str) -> tuple[int, str, str]:
        with self.command(*arguments) as process:
            out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def traces(self) -> list[str]:
        return [*processes_naming(self.folder), *(str(each) for each in self.cache.glob("clusters"))]


@pytest.fixture
def standing(tmp_path: Path) -> Iterator[Standing]:
    programs.path(f"kubernetes-{NEWEST}", "kubectl")
    standing = Standing(tmp_path)
    yield standing
    standing.run("down")


BUNDLE = """\
# kwokgen bundle: tiny
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kwok-tiny-0, namespace: kwok-tiny, labels: {app.kubernetes.io/instance: tiny}}
data:
  kwok.yaml: |
    kind: KwokConfiguration
    ---
    kind: Stage
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kwok-tiny-0, namespace: kwok-tiny, labels: {app.kubernetes.io/instance: tiny}}
spec: {template: {spec: {serviceAccountName: kwok-tiny}}}
"""


def test_a_bundle_says_what_it_needs(tmp_path: Path) -> None:
    """Name, gates, API versions and controllers are read from the files, the controller outside from its folder."""
    (tmp_path / "10-kwok.yaml").write_text(BUNDLE)
    (tmp_path / "README.md").write_text("- feature gate: `A=true`\n- runtime-config: `b/v1=true`\n- gate: `C=true`\n")
    (tmp_path / "controller").mkdir()
    (tmp_path / "controller" / "kwok.yaml").write_text("kind: KwokConfiguration\n")
    read = bundle.read(tmp_path)
    assert (read.name, read.gates, read.runtime_config) == ("tiny", ("A=true",), ("b/v1=true",))
    deployed, outside = read.controllers
    assert (deployed.name, deployed.namespace, deployed.service_account) == ("kwok-tiny-0", "kwok-tiny", "kwok-tiny")
    assert (read.kueue, read.operators, read.awaited) == (None, (), ())
    assert deployed.config == "kind: KwokConfiguration\n---\nkind: Stage\n"
    assert (outside.name, outside.service_account, outside.config) == ("kwok-tiny", None, "kind: KwokConfiguration\n")


NEEDS = """\
- JobSet v0.11.1
- AppWrapper v1.2.0
kubectl wait --for=condition=Ready node -l app.kubernetes.io/instance=tiny --timeout=11m
kubectl wait --for=condition=Complete job -l app.kubernetes.io/instance=tiny -n tiny --timeout=1h
kubectl wait --for=condition=Completed jobset -l app.kubernetes.io/instance=tiny -n a --timeout=1h
kubectl wait --for=jsonpath='{.status.phase}'=Succeeded appwrapper -l app.kubernetes.io/instance=tiny -n b --timeout=1h
"""


def test_a_bundle_says_what_it_waits_for(tmp_path: Path) -> None:
    """The kinds of its workloads, where and by which word each is done, and whose controllers it needs for them."""
    (tmp_path / "10-kwok.yaml").write_text(BUNDLE)
    (tmp_path / "README.md").write_text(NEEDS)
    read = bundle.read(tmp_path)
    assert read.operators == (operators.JOBSET, operators.APPWRAPPER)
    assert read.awaited == (
        Awaited(kind="jobset", namespace="a", path=TRUE_CONDITIONS, word="Completed"),
        Awaited(kind="appwrapper", namespace="b", path=".status.phase", word="Succeeded"),
    )


def test_stop_leaves_nothing(minor: str) -> None:
    """A control plane of every minor starts, works, and leaves no process and no folder."""
    with Cluster.start(minor) as cluster:
        assert minor in cluster.kubectl("version").stdout
        assert "default" in [account["metadata"]["name"] for account in cluster.get("serviceaccounts")]
        assert len(processes_naming(cluster.folder)) == 4
    assert processes_naming(cluster.folder) == []
    assert not cluster.folder.exists()


def test_gates_and_runtime_config_arrive() -> None:
    """Feature gates and API versions that a bundle asks for are on."""
    with Cluster.start(
        "1.37", gates=["DRAListTypeAttributes=true"], runtime_config=["resource.k8s.io/v1beta1=true"]
    ) as cluster:
        assert "resource.k8s.io/v1beta1" in cluster.kubectl("api-versions").stdout.split()
        metrics = cluster.kubectl("get", "--raw", "/metrics").stdout
        assert 'kubernetes_feature_enabled{name="DRAListTypeAttributes",stage="ALPHA"} 1' in metrics


def test_a_program_that_ends_is_told(temporary: Path) -> None:
    """By the next question, not by an answer that never comes."""
    with Cluster.start(NEWEST) as cluster:
        (scheduler,) = (process for process in cluster.running if process.name == "kube-scheduler")
        kill(scheduler)
        with pytest.raises(NotReadyError, match=r"kube-scheduler ended\."):
            cluster.kubectl("version")
    assert processes_naming(temporary) == []


def test_a_controller_that_ends_fails_its_own_test_alone(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it played is removed, and the cluster is there for the next; one that raced is started again."""
    folder = written("played", NEWEST, temporary / "b", "pools: [{name: n, count: 1, machine: {cpu: 8, memory: 8Gi}}]")
    with Cluster.start(NEWEST) as cluster:
        with pytest.raises(NotReadyError, match=r"kwok-played ended\."):
            kill_kwok(cluster, folder, "")
        assert cluster.get("nodes") == []
        before, after = kill_kwok(cluster, folder, f"{RACE} writes")
        assert before.pid != after.pid
        assert cluster.get("nodes") == []
        born: list[Process] = []
        monkeypatch.setattr(readiness, "wait", partial(race_first, readiness.wait, born))
        with removing.applied(cluster, folder):
            assert controller(cluster).pid != born[0].pid
    assert processes_naming(temporary) == []


def kill_kwok(cluster: Cluster, folder: Path, words: str) -> tuple[Process, Process]:
    """The process that ends with these words while its bundle is applied, and that which is there after a question."""
    with removing.applied(cluster, folder):
        before = controller(cluster)
        kill(before)
        (cluster.folder / "kwok-played.log").write_text(words)
        cluster.kubectl("version")
        return before, controller(cluster)


def race_first(wait: Callable[..., None], born: list[Process], process: Process, *where: str, **more: Any) -> None:
    """Wait for a process, of which the first ends before it answers."""
    if not born:
        kill(process)
        more["log"].write_text(f"{RACE} writes")
    born.append(process)
    wait(process, *where, **more)


def kill(process: Process) -> None:
    os.kill(process.pid, signal.SIGKILL)
    until(lambda: not process.alive())


def controller(cluster: Cluster) -> Process:
    (found,) = (process for process in cluster.running if process.name == "kwok-played")
    return found


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_logs_are_kept_when_it_fails(temporary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a program said before it ended is in the error, and the logs are where the message says."""
    with pytest.raises(NotReadyError, match="NoSuchGate"):
        Cluster.start(NEWEST, gates=["NoSuchGate=true"])
    place = Path(capsys.readouterr().err.split()[-1])
    assert {"etcd.log", "kube-apiserver.log"} == {log.name for log in place.iterdir()}
    assert [place] == list(temporary.iterdir())
    assert processes_naming(temporary) == []


def test_logs_are_kept_when_its_user_fails(temporary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An exception in the block keeps the logs; everything else of the folder goes."""
    with pytest.raises(ZeroDivisionError), Cluster.start(NEWEST):
        _ = 1 / 0
    place = Path(capsys.readouterr().err.split()[-1])
    assert "kube-scheduler.log" in [log.name for log in place.iterdir()]
    assert [place] == list(temporary.iterdir())


def test_a_killed_python_takes_its_processes_along(tmp_path: Path) -> None:
    """SIGKILL gives nobody the time to clean up; the kernel still ends every process."""
    folder = tmp_path / "mine"
    script = f"""
from pathlib import Path
from testbed.cluster import Cluster
Cluster.start("{NEWEST}", folder=Path("{folder}"))
"""
    with subprocess.Popen([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": str(ROOT)}) as python:
        until((folder / "kube-scheduler.log").exists)
        python.kill()
    until(lambda: not processes_naming(folder), 5)


@pytest.mark.parametrize("moment", ["etcd", "kube-apiserver", "kube-scheduler"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_an_interrupted_up_leaves_nothing(standing: Standing, moment: str, number: signal.Signals, code: int) -> None:
    """SIGTERM or Ctrl-C while a program starts stops all of them and removes the folder."""
    with standing.command("up") as up:
        until((standing.folder / f"{moment}.log").exists)
        up.send_signal(number)
        out, err = up.communicate(timeout=30)
    assert (code, "", "") == (up.returncode, out, err)
    assert standing.traces() == []


def test_up_outlives_its_command_until_down(standing: Standing) -> None:
    """`up` leaves a cluster behind, a second one is refused, `down` leaves nothing."""
    code, out, _ = standing.run("up")
    assert (0, f"export KUBECONFIG={standing.folder / 'kubeconfig'}\n") == (code, out)
    assert len(processes_naming(standing.folder)) == 4
    code, out, err = standing.run("up")
    assert (code, out) == (1, "")
    assert "stands already" in err
    assert standing.run("status")[0] == 0
    assert standing.run("down") == (0, "", "")
    assert standing.traces() == []
    assert standing.run("status")[0] == 1


def test_the_readmes_transcript_is_what_happens(standing: Standing) -> None:
    """But for numbers, and for how often progress is seen."""
    text = (ROOT / "README.md").read_text()
    (shown,) = re.findall(
        r"^\$ make -s cluster K8S=1.37 BUNDLE=out/quickstart\n(.*?)^\$", text, re.DOTALL | re.MULTILINE
    )
    code, out, err = standing.run("up", "--k8s", "1.37", "--bundle", str(ROOT / "out" / "quickstart"))
    assert code == 0, err
    said = err + out.replace(str(standing.cache), "~/.cache/kwokgen")
    assert shown.splitlines()[0] == said.splitlines()[0]
    assert shown.splitlines()[-2:] == said.splitlines()[-2:]


def test_down_cleans_up_after_a_killed_up(standing: Standing) -> None:
    """What a killed `up` had started is found by `down`."""
    with standing.command("up") as up:
        until((standing.folder / "kube-scheduler.log").exists)
        up.kill()
    assert processes_naming(standing.folder)
    assert standing.run("down") == (0, "", "")
    assert standing.traces() == []


def test_down_finds_what_had_no_id_yet(standing: Standing) -> None:
    """`up` was killed between the start of a program and the note of its id."""
    with subprocess.Popen(["sleep", "61"]) as started:
        standing.folder.mkdir(parents=True)
        entry = '{"name": "etcd", "pid": 0, "command": ["sleep", "61"], "port": 1}'
        (standing.folder / "state.json").write_text(f'{{"minor": "{NEWEST}", "running": [{entry}]}}')
        assert standing.run("down") == (0, "", "")
        assert started.wait(5) == -signal.SIGTERM


def test_down_leaves_strangers_alone(standing: Standing) -> None:
    """An id that has come to mean another process is not stopped."""
    with subprocess.Popen(["sleep", "60"]) as stranger:
        standing.folder.mkdir(parents=True)
        entry = f'{{"name": "etcd", "pid": {stranger.pid}, "command": ["etcd"], "port": 1}}'
        (standing.folder / "state.json").write_text(f'{{"minor": "{NEWEST}", "running": [{entry}]}}')
        assert standing.run("down") == (0, "", "")
        assert stranger.poll() is None
        stranger.kill()
