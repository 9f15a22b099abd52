"""CEL expressions of classes and claims: the API server compiles them."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.checks._devices import selectors
from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem

ID = "selector"
SUMMARY = "Selectors are conditions in CEL over a device"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Expressions that the API server refuses."""
    for selector in selectors(cluster):
        # Slow to load, and few blueprints have expressions of their own.
        from kwokgen import cel

        for wrong in cel.mistakes(selector.text):
            yield Problem(selector.pos, ID, f"the selector is not CEL of devices: {wrong}")
