"""Model to Series: one module a Kubernetes kind, each with `build(cluster)`; found by folder, none is listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from types import ModuleType
from typing import Protocol, cast

from kwokgen.model.cluster import Cluster
from kwokgen.series import Series


class Resource(Protocol):
    """What a module of this folder has; IMMUTABLE are the paths that only a new object can have otherwise."""

    KIND: str
    IMMUTABLE: tuple[tuple[str, ...], ...]

    @staticmethod
    def build(cluster: Cluster) -> Iterable[Series]:
        """Every object of the kind."""


@cache
def modules() -> tuple[Resource, ...]:
    """Every kind, by the modules of this folder."""
    names = sorted(file.name for file in files(__name__).iterdir() if file.name.endswith(".py"))
    found: list[ModuleType] = [
        import_module(f"{__name__}.{name.removesuffix('.py')}") for name in names if name[0] != "_"
    ]
    return tuple(cast("Resource", module) for module in found if hasattr(module, "build"))


def build(cluster: Cluster) -> Iterator[Series]:
    """Every object of a cluster, in the order of the bundle's files."""
    series = [made for module in modules() for made in module.build(cluster)]
    yield from sorted(series, key=lambda made: made.file)
