"""Definitions: waiting until a cluster serves them, and Volcano's, generated from its public Go types."""

import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from testbed import programs

SECONDS = 30
TYPES = ("batch/v1alpha1", "scheduling/v1beta1", "topology/v1alpha1")


def volcano(plural: str) -> Path:
    """The CustomResourceDefinition of jobs, queues, podgroups or hypernodes of volcano.sh; all are made on first use.

    Raises ValueError when there is none.
    """
    folder = programs.path("volcano", "controller-gen").parent / "crds"
    if not folder.is_dir():
        _generate(folder)
    (found,) = folder.glob(f"*volcano.sh_{plural}.yaml")
    return found


def _generate(folder: Path) -> None:
    packages = ";".join(f"volcano.sh/apis/pkg/apis/{each}" for each in TYPES)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        made = Path(temporary) / "made"
        programs.run(
            "volcano",
            "controller-gen",
            "crd:allowDangerousTypes=true,generateEmbeddedObjectMeta=true",
            f"paths={packages}",
            f"output:crd:dir={made}",
        )
        # Another process may have been first.
        with suppress(OSError):
            made.rename(folder)


def established(kubectl: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """Wait until all definitions of a cluster are served; kubectl fails at once while one has no conditions at all."""
    deadline = time.monotonic() + SECONDS
    waiting = ("wait", "--for=condition=Established", "crd", "--all")
    while kubectl(*waiting, check=time.monotonic() > deadline).returncode:
        time.sleep(0.3)
