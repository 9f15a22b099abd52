"""What ships with kwokgen beside its code."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def folder(name: str) -> Path:
    """Where the folder `name` lies: in the wheel below the package, in a checkout beside it."""
    below = Path(str(files("kwokgen"))) / name
    return below if below.is_dir() else Path(__file__).parents[1] / name
