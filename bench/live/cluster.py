"""Blueprints on a control plane of the newest minor, for tables."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent, indent

from kwokgen import sink
from kwokgen.pipeline import render
from testbed import bundle as bundles
from testbed import programs, running
from testbed.bundle import Bundle
from testbed.cluster import Cluster

MINOR = programs.minors()[-1]


def say(text: str) -> None:
    """Progress, which a table is not."""
    print(text, file=sys.stderr, flush=True)


def blueprint(name: str, spec: str, folder: Path) -> Path:
    """A file with the given parts of a blueprint's `spec`."""
    head = f'apiVersion: kwokgen.io/v1alpha1\nkind: Blueprint\nmetadata: {{name: {name}}}\nspec:\n  kubernetes: "{MINOR}"\n'
    file = folder / f"{name}.blueprint"
    file.write_text(head + indent(dedent(spec).strip("\n"), "  ") + "\n", encoding="utf-8")
    return file


def rendered(name: str, spec: str, folder: Path) -> Path:
    """The bundle of such a blueprint."""
    sink.to_folder(render(str(blueprint(name, spec, folder))).bundle(), folder / name)
    return folder / name


@contextmanager
def standing(name: str, spec: str, take: running.Taking = running.apply) -> Iterator[tuple[Cluster, Bundle]]:
    """A cluster of its own that plays a blueprint, its nodes Ready."""
    with tempfile.TemporaryDirectory() as folder, Cluster.start(MINOR) as cluster:
        live = bundles.read(rendered(name, spec, Path(folder)))
        running.run(cluster, live, take)
        running.wait(cluster, live, jobs=False, limit=900)
        say(f"{name}: {running.progress(cluster, live)}")
        yield cluster, live


def completed(cluster: Cluster, namespace: str) -> int:
    """How many Jobs of a namespace are Complete."""
    lines = cluster.kubectl("get", "jobs", "-n", namespace, "--no-headers").stdout.splitlines()
    return sum(line.split()[1] == "Complete" for line in lines)


def running_pods(cluster: Cluster, namespace: str) -> int:
    """How many pods of a namespace run."""
    table = cluster.kubectl("get", "pods", "-n", namespace, "--no-headers", "--field-selector=status.phase=Running")
    return len(table.stdout.splitlines())


def seconds_of(action: Callable[[], object], condition: Callable[[], bool], limit: float) -> float:
    """Seconds from the beginning of an action until a condition holds, to a fifth."""
    start = time.monotonic()
    action()
    seconds_until(condition, limit)
    return time.monotonic() - start


def seconds_until(condition: Callable[[], bool], limit: float) -> float:
    """Seconds from now until it holds, to a fifth.

    Raises TimeoutError after `limit` seconds.
    """
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > limit:
            raise TimeoutError(f"it did not hold within {limit:.0f} s")
        time.sleep(0.2)
    return time.monotonic() - start
