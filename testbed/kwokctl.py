"""A bundle whose controller runs outside, in a cluster that `kwokctl create cluster` makes of the built programs."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from testbed import processes, programs
from testbed.bundle import Bundle

PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")


@dataclass(frozen=True, kw_only=True)
class KwokctlCluster:
    """A running one; its folder holds the logs of every program, KWOK's too."""

    minor: str
    name: str
    folder: Path

    def kubectl(self, *arguments: str) -> str:
        """What the minor's own kubectl says on stdout, as administrator; a failure carries stderr as a note."""
        command = [_program(self.minor, "kubectl"), "--kubeconfig", str(self.folder / "kubeconfig"), *arguments]
        return _run(command, self.folder)

    def log(self) -> str:
        """What KWOK has written so far."""
        return "".join(file.read_text() for file in self.folder.rglob("kwok-controller.log"))


@contextmanager
def created(minor: str, bundle: Bundle) -> Iterator[KwokctlCluster]:
    """Create a cluster with what the bundle requires and its `controller/kwokctl.yaml`; delete it afterwards."""
    processes.interrupt_on_termination()
    folder = Path(tempfile.mkdtemp(prefix="kwokgen-kwokctl-"))
    cluster = KwokctlCluster(minor=minor, name=f"t{os.getpid()}", folder=folder)
    try:
        _kwokctl(cluster, "create", "cluster", *_arguments(cluster, bundle))
        yield cluster
    finally:
        with processes.uninterrupted():
            _kwokctl(cluster, "delete", "cluster")
            shutil.rmtree(folder)


def _arguments(cluster: KwokctlCluster, bundle: Bundle) -> Iterator[str]:
    yield from ("--runtime=binary", "--wait=60s", f"--kubeconfig={cluster.folder / 'kubeconfig'}")
    yield f"--config={bundle.folder / 'controller' / 'kwokctl.yaml'}"
    yield from (f"--{name}-binary={_program(cluster.minor, name)}" for name in PROGRAMS)
    yield f"--etcd-binary={programs.path('etcd', 'etcd')}"
    yield f"--kwok-controller-binary={programs.path('kwok', 'kwok')}"
    if bundle.gates:
        yield f"--kube-feature-gates={','.join(bundle.gates)}"
    if bundle.runtime_config:
        yield f"--kube-runtime-config={','.join(bundle.runtime_config)}"


def _program(minor: str, name: str) -> str:
    return str(programs.path(f"kubernetes-{minor}", name))


def _kwokctl(cluster: KwokctlCluster, *arguments: str) -> None:
    _run([str(programs.path("kwok", "kwokctl")), "--name", cluster.name, *arguments], cluster.folder)


def _run(command: Sequence[str], folder: Path) -> str:
    # HOME: a person's ~/.kwok/kwok.yaml would be merged into the configuration.
    environment = os.environ | {"HOME": str(folder), "KWOK_WORKDIR": str(folder / "kwok")}
    try:
        return subprocess.run(command, env=environment, check=True, text=True, capture_output=True).stdout
    except subprocess.CalledProcessError as error:
        error.add_note(re.sub(r"\x1b\[[0-9;]*m", "", error.stderr))
        raise
