"""A kind of Volcano's in; the file of its definition, generated from its public Go types, out."""

import tempfile
from contextlib import suppress
from pathlib import Path

from testbed import programs

TYPES = ("batch/v1alpha1", "scheduling/v1beta1", "topology/v1alpha1")


def volcano(plural: str) -> Path:
    """The CustomResourceDefinition of jobs, queues, podgroups or hypernodes of volcano.sh; all are made on first use.

    Raises ValueError when there is none.
    """
    folder = programs.path("volcano", "controller-gen").parent / "definitions"
    if not folder.is_dir():
        _generate(folder)
    (found,) = folder.glob(f"*volcano.sh_{plural}.yaml")
    return found


def _generate(folder: Path) -> None:
    packages = ";".join(f"volcano.sh/apis/pkg/apis/{each}" for each in TYPES)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        made = Path(temporary) / "made"
        programs.run(
            "volcano", "controller-gen", "crd:allowDangerousTypes=true", f"paths={packages}", f"output:crd:dir={made}"
        )
        # Another process may have been first.
        with suppress(OSError):
            made.rename(folder)
