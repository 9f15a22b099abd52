"""The way from a blueprint to a bundle, which `import kwokgen` users call as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from kwokgen import checks, claimnames, patches, resources, stagenames
from kwokgen.blueprint import assignments, resolve, shape, source, trace
from kwokgen.blueprint.overlays import overlaid
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
    node, unread = read(blueprint, overlays, sets)
    cluster, warnings = understand(node, catalog or Catalog(), unread)
    series, more = objects(cluster)
    return Rendered(cluster, series, ordered((*warnings, *more)))


def read(blueprint: str, overlays: Sequence[str], sets: Sequence[str]) -> tuple[Node, tuple[Problem, ...]]:
    """The blueprint's tree with its overlays, and the `--set` arguments and traces that fit, with what is wrong with others.

    Raises KwokgenError when a blueprint or an overlay cannot be read.
    """
    node = source.read(blueprint)
    for overlay in overlays:
        node = overlaid(node, source.read(overlay))
    node, unset = assignments.assigned(node, sets)
    node, untraced = trace.put_in(node, source.trace)
    return node, (*unset, *untraced)


def understand(node: Node, catalog: Catalog, unread: Sequence[Problem] = ()) -> tuple[Cluster, tuple[Problem, ...]]:
    """The cluster that a tree describes, and the warnings; `unread` is why the tree is not all that was meant.

    Raises KwokgenError with the problems of every stage: each goes on with what the one before has understood.
    """
    try:
        sound = shape.sound(node)
    except KwokgenError as error:
        raise KwokgenError(*unread, *error.problems) from None
    cluster, unresolved = resolve.resolve(sound, catalog)
    whole = not errors((*unread, *sound.problems, *unresolved))
    found = (*unresolved, *checks.check(cluster, whole=whole), *_stages(cluster))
    problems = (*unread, *sound.problems, *(problem for problem in found if problem.pos not in sound.lost))
    if errors(problems):
        raise KwokgenError(*problems, *(_patched(cluster)[1] if whole else ()))
    return cluster, ordered(problems)


def _stages(cluster: Cluster) -> tuple[Problem, ...]:
    """Stages that did not come with kwokgen are rare, and what checks them is slow to load."""
    if not cluster.own_lifecycles:
        return ()
    from kwokgen import stagelint

    return stagelint.check(cluster)


def objects(cluster: Cluster) -> tuple[tuple[Series, ...], tuple[Problem, ...]]:
    """Every object of a cluster, patched and verified, and the warnings."""
    series, unpatched = _patched(cluster)
    problems = (*unpatched, *stagenames.check(cluster), *verify(cluster, series))
    # A Stage whose form is wrong cannot be looked into.
    if any(patch.kind == "Stage" for patch in cluster.patches) and not errors(problems):
        from kwokgen import stagepatches

        problems = (*problems, *stagepatches.check(cluster, series))
    if errors(problems):
        raise KwokgenError(*problems)
    return series, (*problems, *claimnames.check(cluster, series))


def _patched(cluster: Cluster) -> tuple[tuple[Series, ...], tuple[Problem, ...]]:
    return patches.patched(tuple(resources.build(cluster)), cluster.patches)
