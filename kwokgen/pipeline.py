"""The way from a blueprint to a bundle, which `import kwokgen` users call as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from kwokgen import checks, patches, resources
from kwokgen.blueprint import resolve, shape, source, variants
from kwokgen.catalog import Catalog
from kwokgen.model.cluster import Cluster
from kwokgen.model.place import Node
from kwokgen.problem import KwokgenError, Problem, errors, ordered
from kwokgen.series import Series
from kwokgen.verify import verify

if TYPE_CHECKING:
    from kwokgen.bundle import Bundle


class Rendered(NamedTuple):
    """A cluster with everything that it is rendered to, and the warnings on the way."""

    cluster: Cluster
    series: tuple[Series, ...]
    warnings: tuple[Problem, ...]

    def bundle(self, only: str | None = None) -> Bundle:
        """Its files."""
        from kwokgen.bundle import bundle

        return bundle(self.cluster, self.series, only=only)


def render(
    blueprint: str, *, overlays: Sequence[str] = (), sets: Sequence[str] = (), catalog: Catalog | None = None
) -> Rendered:
    """A blueprint's file with its variants as a cluster and its objects, proven against the API's schemas.

    Raises KwokgenError with every problem.
    """
    node = read(blueprint, overlays, sets)
    cluster, warnings = understand(node, catalog or Catalog())
    return Rendered(cluster, objects(cluster), warnings)


def read(blueprint: str, overlays: Sequence[str], sets: Sequence[str]) -> Node:
    """The blueprint's tree with its overlays and `--set` arguments."""
    node = source.read(blueprint)
    for overlay in overlays:
        node = variants.overlaid(node, source.read(overlay))
    return variants.assigned(node, sets)


def understand(node: Node, catalog: Catalog) -> tuple[Cluster, tuple[Problem, ...]]:
    """The cluster that a tree describes, and the warnings."""
    problems = shape.check(node)
    if problems:
        raise KwokgenError(*problems)
    cluster, warnings = resolve.resolve(node, shape.filled(node), catalog)
    found = (*warnings, *checks.check(cluster), *_expressions(cluster))
    if errors(found):
        raise KwokgenError(*found)
    return cluster, ordered(found)


def _expressions(cluster: Cluster) -> tuple[Problem, ...]:
    """Stages that did not come with kwokgen are rare, and what checks them is slow to load."""
    if all(lifecycle.builtin for lifecycle in cluster.lifecycles):
        return ()
    from kwokgen import expressions

    return expressions.check(cluster)


def objects(cluster: Cluster) -> tuple[Series, ...]:
    """Every object of a cluster, patched and verified."""
    series = patches.patched(tuple(resources.build(cluster)), cluster.patches)
    verify(cluster, series)
    return series
