"""The one cluster that stands on this machine for a person: `up`, `down` and `status` of `python -m testbed`."""

import shlex
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

from testbed import bundle as bundles
from testbed import programs, running
from testbed.bundle import Bundle
from testbed.cluster import Cluster


def folder() -> Path:
    """Its state: whoever makes this folder has the cluster."""
    return programs.cache_root() / "clusters" / "default"


def up(minor: str, bundle_folder: Path | None, limit: float) -> int:
    """Start it, apply the bundle and wait for it; the shell line that selects it goes to stdout."""
    bundle = bundles.read(bundle_folder) if bundle_folder else None
    gates, runtime_config = (bundle.gates, bundle.runtime_config) if bundle else ((), ())
    with ExitStack() as stack:
        stack.callback(_remove_parent)
        try:
            cluster = Cluster.start(minor, gates=gates, runtime_config=runtime_config, folder=folder(), outlive=True)
        except FileExistsError:
            _say(f"a cluster stands already: {folder()} (python -m testbed down removes it)")
            return 1
        stack.push(cluster)
        missing = _fill(cluster, bundle, limit) if bundle else None
        stack.pop_all()
    print(f"export KUBECONFIG={shlex.quote(str(cluster.kubeconfig))}", flush=True)
    return 1 if missing else 0


def _fill(cluster: Cluster, bundle: Bundle, limit: float) -> TimeoutError | None:
    """Run the bundle. What is late is no reason to take the cluster away: a person wants to look."""
    _say(f"Kubernetes {cluster.minor} is ready; applying {bundle.name}")
    running.run(cluster, bundle)
    try:
        running.wait(cluster, bundle, jobs=True, limit=limit, say=_say)
    except TimeoutError as missing:
        _say(str(missing))
        return missing
    return None


def down() -> int:
    """Stop what stands, or what a killed `up` left, and remove its folder."""
    cluster = Cluster.load(folder())
    if cluster is None:
        _say("no cluster stands")
        return 0
    cluster.stop()
    _remove_parent()
    return 0


def status() -> int:
    """Say what stands; 1 when nothing, or not all of it, does."""
    cluster = Cluster.load(folder())
    if cluster is None:
        _say("no cluster stands")
        return 1
    print(f"Kubernetes {cluster.minor}, KUBECONFIG={cluster.kubeconfig}")
    for process in cluster.running:
        print(f"{process.name}: {f'process {process.pid}, port {process.port}' if process.alive() else 'ended'}")
    return 0 if cluster.running and all(process.alive() for process in cluster.running) else 1


def _remove_parent() -> None:
    with suppress(OSError):
        folder().parent.rmdir()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
