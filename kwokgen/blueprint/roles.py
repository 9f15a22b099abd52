"""Roles: a workload whose pods are not all alike, as one workload for each role and the whole of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.model.place import Entry, Node, Place
from kwokgen.model.workload import Kind, Workload
from kwokgen.problem import quoted

OF_ROLES = ("pods", "parallelism", "roles", "failures")
"""What is said of each role, or of the whole."""


def split(item: Data, at: Place) -> Iterator[tuple[Data, Place]]:
    """The words of the workload that each role would be alone, and where each of them stands."""
    whole = {word: said for word, said in item.items() if word not in OF_ROLES}
    for role, place in zip(item["roles"], places(at, "roles", item["roles"]), strict=True):
        own = {word: said for word, said in role.items() if word != "name"}
        container = _deep(item["container"], role.get("container", {}))
        yield {**whole, **own, "container": container}, Place(_over(_without(at.node, OF_ROLES), place.node))


def whole(parts: Sequence[Workload], names: Sequence[str], at: Place) -> Workload:
    """The workload whose pods these are."""
    roles = tuple(part._replace(role=name) for part, name in zip(parts, names, strict=True))
    return roles[0]._replace(
        role="",
        roles=roles,
        pods=sum(part.pods for part in parts),
        parallelism=sum(part.parallelism for part in parts),
        pools=tuple({pool.name: pool for part in parts for pool in part.pools}.values()),
        claims=tuple({claim.name: claim for part in parts for claim in part.claims}.values()),
        at=at,
    )


def check(scope: Scope, kind: Kind, item: Data, at: Place) -> None:
    """Notes roles that the kind does not have."""
    for word in ("pods", "parallelism"):
        if at.node.child(word):
            scope.fail(
                at.key(word), "workload", f"the roles say how many pods there are, and {word} too", "leave it out"
            )
    for word in ("claims", "gpus", "pools"):
        if at.node.child(word) and all(word in role for role in item["roles"]):
            scope.fail(
                at.key(word), "workload", f"every role has {word} of its own, and the workload too", "leave it out"
            )
    where = places(at, "roles", item["roles"])
    scope.distinct(item["roles"], where, "roles")
    if not kind.roles:
        message = f"pods of the kind {kind.name} are all alike"
        scope.fail(at.key("roles"), "workload", message, "leave it out, or take a kind that has roles")
        return
    if kind.leads:
        _first(scope, kind, item["roles"][0], where[0])
    rest = [*zip(item["roles"], where, strict=True)][len(kind.roles) - 1 :]
    for role, place in rest if not kind.more_roles else ():
        if role["name"] != kind.roles[-1]:
            message = f'the kind {kind.name} has no role "{role["name"]}" there'
            scope.fail(place.pos("name"), "workload", message, f"its roles, in this order: {quoted(kind.roles)}")


def _first(scope: Scope, kind: Kind, role: Data, at: Place) -> None:
    lead = kind.roles[0]
    if role["name"] != lead:
        message = f'the first role of the kind {kind.name} is called "{lead}"'
        scope.fail(at.pos("name"), "workload", message, "the others follow it")
    elif role["pods"] != 1:
        message = f'the role "{lead}" of the kind {kind.name} has one pod, not {role["pods"]}'
        scope.fail(at.pos("pods"), "workload", message, "leave it out, and give the others more")


def _deep(value: Data, over: Data) -> Data:
    own = {key: _deep(value[key], said) if isinstance(value.get(key), dict) else said for key, said in over.items()}
    return {**value, **own}


def _without(node: Node, words: Sequence[str]) -> Node:
    entries = node.value if isinstance(node.value, dict) else {}
    return node._replace(value={key: entry for key, entry in entries.items() if key not in words})


def _over(node: Node, over: Node) -> Node:
    """What is written in both, where the second says it anew its own."""
    if not isinstance(node.value, dict) or not isinstance(over.value, dict):
        return over
    own = {
        key: Entry(entry.key_pos, _over(node.value[key].node, entry.node)) if key in node.value else entry
        for key, entry in over.value.items()
        if key != "name"
    }
    return over._replace(value={**node.value, **own})
