"""Rules over a cluster that no schema can hold: one module a rule, found by folder, none is listed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Protocol, cast

from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem


class Check(Protocol):
    """What a module of this folder has; ID is the code of its problems.

    With WHOLE = True it is asked only of a cluster that was understood as a whole: it misses what may be lost.
    """

    ID: str
    SUMMARY: str

    @staticmethod
    def check(cluster: Cluster) -> Iterable[Problem]:
        """Every mistake of the rule's kind."""


@cache
def modules() -> tuple[Check, ...]:
    """Every rule, by the modules of this folder."""
    names = sorted(file.name for file in files(__name__).iterdir() if file.name.endswith(".py"))
    return tuple(
        cast("Check", import_module(f"{__name__}.{name.removesuffix('.py')}")) for name in names if name[0] != "_"
    )


def check(cluster: Cluster, *, whole: bool) -> tuple[Problem, ...]:
    """Every problem that any rule finds; `whole` is whether all of the blueprint was understood."""
    asked = (module for module in modules() if whole or not getattr(module, "WHOLE", False))
    return tuple(problem for module in asked for problem in module.check(cluster))
