"""Blueprints in, rendered bundles out, for the minor of the cluster at hand."""

from pathlib import Path

from kwokgen import sink
from kwokgen.pipeline import render

ROOT = Path(__file__).parents[2]
BLUEPRINTS = sorted(file.stem for file in (ROOT / "blueprints").glob("*.yaml"))


def bundle(name: str, minor: str, folder: Path, *sets: str) -> Path:
    """The bundle of an example for a minor, with further `--set` arguments."""
    rendered = render(str(ROOT / "blueprints" / f"{name}.yaml"), sets=(f'kubernetes="{minor}"', *sets))
    sink.to_folder(rendered.bundle(), folder)
    return folder
