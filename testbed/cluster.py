"""A Kubernetes minor in; out a running control plane on loopback, with its own kubectl and KWOK."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from testbed import components, credentials, ports, processes, programs, readiness
from testbed.components import Plan
from testbed.processes import Process
from testbed.readiness import NotReadyError

STATE = "state.json"


@dataclass(kw_only=True)
class Cluster:
    """A control plane in a folder of its own; a context manager that leaves no process, port or file.

    Left by an exception, its logs are moved out of the folder first and their place is printed.
    """

    minor: str
    folder: Path
    outlive: bool = False
    running: list[Process] = field(default_factory=list)
    _ports: list[socket.socket] = field(default_factory=list, repr=False)

    @classmethod
    def start(
        cls, minor: str, *, gates: Sequence[str] = (), runtime_config: Sequence[str] = (),
        folder: Path | None = None, grace: int = 60, outlive: bool = False, audit: bool = False,
    ) -> Self:  # fmt: skip
        """Start one and wait until each program is ready.

        `folder` must not exist yet (FileExistsError), `grace` is after how many seconds without a lease a node is
        Unknown; `audit` lets the API server note every request. With `outlive` the processes go on after this Python
        process; `Cluster.load(folder)` finds them.
        """
        processes.interrupt_on_termination()
        folder = folder or Path(tempfile.gettempdir()) / f"kwokgen-{os.getpid()}-{os.urandom(4).hex()}"
        cluster = cls(minor=minor, folder=folder.absolute(), outlive=outlive)
        plan = Plan(
            minor=minor, folder=cluster.folder, kubeconfig=cluster.kubeconfig,
            gates=tuple(gates), runtime_config=tuple(runtime_config), grace=grace, audit=audit,
        )  # fmt: skip
        plan.build()
        with ExitStack() as stack:
            with processes.uninterrupted():
                cluster.folder.parent.mkdir(parents=True, exist_ok=True)
                cluster.folder.mkdir(mode=0o700)
                stack.push(cluster)
            cluster._bring_up(plan)
            stack.pop_all()
        return cluster

    @classmethod
    def load(cls, folder: Path) -> Self | None:
        """The cluster that a process started in `folder`, if there is one."""
        if not folder.is_dir():
            return None
        file = folder / STATE
        state: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        running = [found for each in state.get("running", ()) if (found := _known(each))]
        return cls(minor=state.get("minor", ""), folder=folder, outlive=True, running=running)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self.stop(keep_logs=kind is not None and issubclass(kind, Exception))

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.folder / "kubeconfig"

    def kubectl(
        self, *arguments: str, stdin: str | None = None, check: bool = True
    ) -> "subprocess.CompletedProcess[str]":
        """This minor's own kubectl as administrator; a failure carries what kubectl said as a note.

        Raises NotReadyError when a program of the cluster has ended: what one asks for would never come. Only a KWOK
        that ended by its own race is started again, its log kept under another name.
        """
        for process in tuple(self.running):
            if readiness.raced(process, log=self._log(process.name)):
                self._start_again(process)
            else:
                readiness.still(process, log=self._log(process.name))
        command = [str(programs.path(f"kubernetes-{self.minor}", "kubectl")), *arguments]
        # HOME: a person's kuberc, and another cluster's discovery cache for the same port, stay out.
        environment = os.environ | {"KUBECONFIG": str(self.kubeconfig), "HOME": str(self.folder)}
        try:
            return subprocess.run(command, env=environment, input=stdin, check=check, text=True, capture_output=True)
        except subprocess.CalledProcessError as error:
            error.add_note(error.stderr)
            raise

    def get(self, kind: str, *arguments: str) -> list[dict[str, Any]]:
        """The objects that `kubectl get KIND ...` finds."""
        found = json.loads(self.kubectl("get", kind, *arguments, "-o", "json").stdout or '{"items": []}')
        return list(found["items"]) if "items" in found else [found]

    def kwok(self, config: str | Path, *, token: str | None, name: str) -> Process:
        """Start KWOK with a configuration (text, or its file) under a bearer token; None is the administrator's."""
        kubeconfig, file = self.kubeconfig, Path(config)
        if isinstance(config, str):
            file = self.folder / f"{name}.yaml"
            file.write_text(config)
        if token:
            kubeconfig = self.folder / f"{name}.kubeconfig"
            credentials.write_kubeconfig(kubeconfig, port=self.port("kube-apiserver"), token=token)
        port = self.reserve()
        command = components.kwok(kubeconfig=kubeconfig, config=file, port=port)
        healthy = f"http://127.0.0.1:{port}/healthz"
        try:
            return self.program(name, command, port=port, ready=[healthy])
        except NotReadyError:
            ended = self.running[-1]
            if not readiness.raced(ended, log=self._log(name)):
                raise
        again = self._start_again(ended)
        self._ready(again, healthy)
        return again

    def program(
        self, name: str, command: list[str], *, port: int, ready: Sequence[str],
        etc: Path | None = None, environment: Mapping[str, str] | None = None,
    ) -> Process:  # fmt: skip
        """Start a program beside the control plane; it answers at each of the URLs `ready`."""
        started = self._start(name, command, port, etc=etc, environment=environment)
        for url in ready:
            self._ready(started, url)
        return started

    def reserve(self) -> int:
        """A port of 127.0.0.1 that nobody else is given."""
        self._ports.append(ports.reserve())
        return ports.number(self._ports[-1])

    def end(self, process: Process) -> None:
        """Stop one process of this cluster."""
        with processes.uninterrupted():
            processes.stop([process])
            self.running.remove(process)
            self._write_state()

    def port(self, name: str) -> int:
        """Where a program listens."""
        return next(process.port for process in self.running if process.name == name)

    def log(self, name: str) -> str:
        """What a program has written so far."""
        return self._log(name).read_text(errors="replace")

    def requests(self) -> list[dict[str, Any]]:
        """Every request to an API server that was started with `audit`, as audit.k8s.io/v1 Events."""
        return [json.loads(line) for line in (self.folder / components.AUDIT).read_text().splitlines()]

    def stop(self, *, keep_logs: bool = False) -> None:
        """Stop every process, by id, and remove the folder; a second call does nothing."""
        with processes.uninterrupted():
            processes.stop(self.running)
            self.running.clear()
            for kept in self._ports:
                kept.close()
            if keep_logs:
                self._save_logs()
            if self.folder.exists():
                shutil.rmtree(self.folder)

    def _bring_up(self, plan: Plan) -> None:
        token = credentials.write(self.folder)
        etcd, peer, api, manager, scheduler = (self.reserve() for _ in range(5))
        credentials.write_kubeconfig(self.kubeconfig, port=api, token=token)
        store = self._start("etcd", components.etcd(plan, port=etcd, peer_port=peer), etcd)
        self._ready(store, f"http://127.0.0.1:{etcd}/readyz")
        server = self._start("kube-apiserver", components.apiserver(plan, port=api, etcd_port=etcd), api)
        self._ready(server, f"https://127.0.0.1:{api}/readyz")
        manages = self._start("kube-controller-manager", components.controller_manager(plan, port=manager), manager)
        schedules = self._start("kube-scheduler", components.scheduler(plan, port=scheduler), scheduler)
        self._ready(schedules, f"https://127.0.0.1:{scheduler}/readyz")
        # The controller manager has no readyz, and is healthy before it works; a pod needs this account of its making.
        account = f"https://127.0.0.1:{api}/api/v1/namespaces/default/serviceaccounts/default"
        self._ready(manages, account, token)

    def _ready(self, started: Process, url: str, token: str = "") -> None:
        certificate = self.folder / credentials.CERTIFICATE
        readiness.wait(started, url, log=self._log(started.name), certificate=certificate, token=token)

    def _start(
        self, name: str, command: list[str], port: int, *,
        etc: Path | None = None, environment: Mapping[str, str] | None = None,
    ) -> Process:  # fmt: skip
        # What is about to start is on disk before it starts, so that `down` finds what a killed `up` left.
        with processes.uninterrupted():
            self._write_state(Process(name=name, pid=0, command=tuple(command), port=port))
            started = processes.start(
                name, command, log=self._log(name), port=port, tied=not self.outlive, etc=etc, environment=environment
            )
            self.running.append(started)
            self._write_state()
        return started

    def _start_again(self, process: Process) -> Process:
        self.end(process)
        self._log(process.name).rename(self._log(f"{process.name}-ended-{process.pid}"))
        return self._start(process.name, list(process.command), process.port)

    def _write_state(self, *starting: Process) -> None:
        running = [
            {"name": each.name, "pid": each.pid, "command": each.command, "port": each.port}
            for each in (*self.running, *starting)
        ]
        temporary = self.folder / f"{STATE}.new"
        temporary.write_text(json.dumps({"minor": self.minor, "running": running}, indent=1))
        temporary.replace(self.folder / STATE)

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _save_logs(self) -> None:
        place = Path(tempfile.mkdtemp(prefix="kwokgen-logs-"))
        for log in self.folder.glob("*.log"):
            shutil.move(log, place)
        print(f"logs of the control plane: {place}", file=sys.stderr)


def _known(entry: dict[str, Any]) -> Process | None:
    """A process of the state; one without an id was starting when its starter was killed."""
    command = tuple(entry["command"])
    pid = entry["pid"] or processes.find(command)
    return Process(**entry | {"command": command, "pid": pid}) if pid else None
