"""The JSON Schemas that kwokgen ships, read once."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from kwokgen import shipped

Schema = dict[str, Any]
ROOT = "https://kwokgen.io/schemas/"
"""What the `$id` of each begins with."""


def names() -> tuple[str, ...]:
    """Every schema that `load` takes, such as `blueprint` and `kwok/stage`."""
    folder = shipped.folder("schemas")
    found = folder.rglob("*.schema.json")
    return tuple(sorted(str(file.relative_to(folder)).removesuffix(".schema.json") for file in found))


@cache
def text(name: str) -> str:
    """A schema as it is shipped."""
    return (shipped.folder("schemas") / f"{name}.schema.json").read_text(encoding="utf-8")


@cache
def load(name: str) -> Schema:
    """A schema as data; callers do not change it."""
    schema: Schema = json.loads(text(name))
    return schema


def identified(identity: str) -> Schema:
    """The schema of an `$id`."""
    return load(identity.removeprefix(ROOT).removesuffix(".schema.json"))
