"""A cluster and a bundle in; the bundle applied, its nodes Ready, its Jobs finished, or all of it gone again out."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from testbed import kueue, operators
from testbed.bundle import Awaited, Bundle, Controller
from testbed.cluster import Cluster
from testbed.processes import Process

PAUSE = 0.7
"""Seconds between two questions, each of which is a kubectl that starts."""
FINISHED = {"Complete", "Failed"}
SUSPENDED = "Suspended"


@dataclass(frozen=True)
class Progress:
    """How far a bundle is: the state of each of its nodes and Jobs, as `kubectl get` shows it.

    Workloads of other kinds have the words of Jobs. A suspended Job waits for a person, or where they are `queued` for its turn.
    """

    nodes: dict[str, str]
    jobs: dict[str, str]
    queued: bool = False

    @property
    def unready(self) -> list[str]:
        """The nodes that are not Ready."""
        return [name for name, state in self.nodes.items() if state.split(",")[0] != "Ready"]

    @property
    def unfinished(self) -> list[str]:
        """The Jobs that still have to do: neither Complete nor Failed, nor waiting for a person."""
        done = FINISHED if self.queued else {*FINISHED, SUSPENDED}
        return [name for name, state in self.jobs.items() if state not in done]

    def __str__(self) -> str:
        said = f"{len(self.nodes) - len(self.unready)} of {len(self.nodes)} nodes Ready"
        failed = sum(state == "Failed" for state in self.jobs.values())
        said += f", {len(self.jobs) - len(self.unfinished)} of {len(self.jobs)} Jobs finished" if self.jobs else ""
        return said + (f" ({failed} Failed)" if failed else "")


def progress(cluster: Cluster, bundle: Bundle) -> Progress:
    """Ask once. The server's own tables: ten thousand nodes as JSON are 30 MB a question."""
    nodes, states = {}, {}
    # Asked for two kinds, kubectl says each; a namespace stands before the kind.
    for first, second, third, *_ in _table(cluster, "nodes,jobs.batch", "-l", bundle.selector, "--all-namespaces"):
        if first.startswith("node/"):
            nodes[first.removeprefix("node/")] = second
        else:
            states[f"{first}/{second.removeprefix('job.batch/')}"] = third
    for awaited in bundle.awaited:
        states |= _states(cluster, bundle, awaited)
    return Progress(nodes, states, queued=bundle.kueue is not None)


def _states(cluster: Cluster, bundle: Bundle, awaited: Awaited) -> dict[str, str]:
    columns = f"N:.metadata.name,W:{awaited.path},H:.spec.suspend"
    selection = ("-l", bundle.selector, "-n", awaited.namespace)
    rows = _table(cluster, awaited.kind, *selection, f"--output=custom-columns={columns}")
    return {
        f"{awaited.namespace}/{name}": _state(awaited, words.split(","), held=held == "true")
        for name, words, held in rows
    }


def _state(awaited: Awaited, words: list[str], *, held: bool) -> str:
    if awaited.word in words:
        return "Complete"
    return "Failed" if "Failed" in words else SUSPENDED if held else "Running"


def _table(cluster: Cluster, *arguments: str) -> list[list[str]]:
    return [line.split() for line in cluster.kubectl("get", *arguments, "--no-headers").stdout.splitlines()]


def wait(
    cluster: Cluster, bundle: Bundle, *, jobs: bool, limit: float, say: Callable[[str], None] = lambda _: None
) -> None:
    """Wait for Ready nodes, and with `jobs` for finished Jobs; raises TimeoutError that says what is missing."""
    deadline, said = time.monotonic() + limit, ""
    while True:
        asked = time.monotonic()
        now = progress(cluster, bundle)
        missing = [*now.unready, *(now.unfinished if jobs else ())]
        if said != str(now):
            say(said := str(now))
        if not missing:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {limit:.0f} s {now}; missing: {_some(missing)}")
        # Large clusters answer slowly, and small ones share a machine; do not become their load.
        time.sleep(max(PAUSE, time.monotonic() - asked))


def _some(names: list[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


Taking = Callable[[Cluster, Bundle], object]
"""A way to give a bundle to a cluster."""
QUICKLY = "--openapi-patch=false"
"""For a `kubectl apply` of what is there already: it compares by kubectl's own types, to the same end. By default it reads
the API's description anew for each object: 100 nodes take 16 s of a CPU, and 0.4 s so (kubectl 1.33 and 1.37).
https://github.com/kubernetes/kubernetes/issues/127095"""


def apply(cluster: Cluster, bundle: Bundle) -> None:
    """The way the bundle's README names."""
    if (bundle.folder / "05-crds.yaml").exists():
        cluster.kubectl("apply", "-f", str(bundle.folder / "05-crds.yaml"))
        for waits in bundle.defined:
            cluster.kubectl(*waits)
    cluster.kubectl("apply", "-f", str(bundle.folder))


def run(cluster: Cluster, bundle: Bundle, take: Taking = apply) -> list[Process]:
    """Give the bundle to the cluster, with Kueue and operators where it needs them, and start its controllers."""
    for operator in bundle.operators:
        operators.start(cluster, operator)
    # It begins with the kinds whose definitions are there.
    if bundle.kueue is not None:
        kueue.start(cluster, bundle.kueue, [awaited.kind for awaited in bundle.awaited])
    take(cluster, bundle)
    return play(cluster, bundle)


def play(cluster: Cluster, bundle: Bundle) -> list[Process]:
    """Start the controllers of a bundle that is there, each with a token of its own ServiceAccount."""
    return [
        cluster.kwok(controller.config, token=token(cluster, controller), name=controller.name)
        for controller in bundle.controllers
    ]


def token(cluster: Cluster, controller: Controller) -> str | None:
    """A token of the controller's ServiceAccount; None when it has none and is the administrator."""
    if not controller.service_account:
        return None
    arguments = ("-n", controller.namespace or "default", "--duration", "24h")
    return cluster.kubectl("create", "token", controller.service_account, *arguments).stdout.strip()
