"""The JSON Schemas that kwokgen ships, read once."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

Schema = dict[str, Any]
ROOT = "https://kwokgen.io/schemas/"
"""What the `$id` of each begins with."""


def folder() -> Path:
    """Where the schemas lie: in the wheel below the package, in a checkout beside it."""
    shipped = Path(str(files("kwokgen"))) / "schemas"
    return shipped if shipped.is_dir() else Path(__file__).parents[1] / "schemas"


def names() -> tuple[str, ...]:
    """Every schema that `load` takes, such as `blueprint` and `kwok/stage`."""
    found = folder().rglob("*.schema.json")
    return tuple(sorted(str(file.relative_to(folder())).removesuffix(".schema.json") for file in found))


@cache
def text(name: str) -> str:
    """A schema as it is shipped."""
    return (folder() / f"{name}.schema.json").read_text(encoding="utf-8")


@cache
def load(name: str) -> Schema:
    """A schema as data; callers do not change it."""
    schema: Schema = json.loads(text(name))
    return schema


def identified(identity: str) -> Schema:
    """The schema of an `$id`."""
    return load(identity.removeprefix(ROOT).removesuffix(".schema.json"))
