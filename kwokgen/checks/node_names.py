"""Names of nodes: legal, short enough with the last index, and distinct over all pools."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from kwokgen.formats import FORMATS, MOST_LABEL, is_subdomain
from kwokgen.model.cluster import Cluster
from kwokgen.model.pool import Pool
from kwokgen.problem import Problem, Related

ID = "node-name"
SUMMARY = "Names of nodes are legal, at most 63 characters with the last index, and distinct"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Pools whose nodes cannot have their names."""
    for pool in cluster.pools:
        yield from _legal(pool)
    for first, second in combinations({pool.name: pool for pool in cluster.pools}.values(), 2):
        yield from _collision(first, second)


def _legal(pool: Pool) -> Iterator[Problem]:
    longest = pool.names.name(pool.count - 1)
    pos = pool.at.pos("nodeName") if pool.at.raw("nodeName") else pool.at.pos("name")
    if not is_subdomain(longest):
        form = FORMATS["dns-subdomain"]
        yield Problem(pos, ID, f'the node name "{longest}" is not {form.what}: {form.allowed}')
    elif len(longest) > MOST_LABEL:
        message = f'the node name "{longest}" has {len(longest)} characters with its index, {MOST_LABEL} is the most'
        over, own = len(longest) - MOST_LABEL, not pool.at.raw("nodeName")
        shorter = f"cut the name to {len(pool.name) - over}" if own else f"shorten the pattern by {over}"
        yield Problem(pos, ID, message, f"kubernetes.io/hostname has it as its value; {shorter}")


def _collision(first: Pool, second: Pool) -> Iterator[Problem]:
    a, b = first.names, second.names
    if not (a.before.startswith(b.before) or b.before.startswith(a.before)):
        return
    if not (a.after.endswith(b.after) or b.after.endswith(a.after)):
        return
    smaller, larger = sorted((first, second), key=lambda pool: pool.count)
    names = {smaller.names.name(index) for index in range(smaller.count)}
    same = next((name for index in range(larger.count) if (name := larger.names.name(index)) in names), None)
    if same:
        message = f'the pools "{first.name}" and "{second.name}" both have a node "{same}"'
        related = (Related(first.at.pos(), f'pool "{first.name}"'),)
        yield Problem(second.at.pos("nodeName"), ID, message, "give each pool a nodeName of its own", related=related)
