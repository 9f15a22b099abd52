"""Blueprints in, rendered bundles out, for the minor of the cluster at hand."""

from pathlib import Path
from textwrap import dedent, indent

from kwokgen import sink
from kwokgen.pipeline import render

ROOT = Path(__file__).parents[2]
BLUEPRINTS = sorted(file.stem for file in (ROOT / "blueprints").glob("*.yaml"))


def bundle(name: str, minor: str, folder: Path, *sets: str) -> Path:
    """The bundle of an example for a minor, with further `--set` arguments."""
    return _rendered(ROOT / "blueprints" / f"{name}.yaml", folder, f'kubernetes="{minor}"', *sets)


def written(name: str, minor: str, folder: Path, spec: str) -> Path:
    """The bundle of the given parts of `spec`; a second call for the same folder renders over the first."""
    head = f'apiVersion: kwokgen.io/v1alpha1\nkind: Blueprint\nmetadata: {{name: {name}}}\nspec:\n  kubernetes: "{minor}"\n'
    file = folder.with_name(f"{folder.name}.yaml")
    file.write_text(head + indent(dedent(spec).strip("\n"), "  ") + "\n")
    return _rendered(file, folder)


def _rendered(file: Path, folder: Path, *sets: str) -> Path:
    sink.to_folder(render(str(file), sets=sets).bundle(), folder)
    return folder
