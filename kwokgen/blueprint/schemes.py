"""Schemes: the labels by which nodes tell their places in the topology."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kwokgen.blueprint.scope import Data, Scope
from kwokgen.catalog import Fact
from kwokgen.formats import MOST_LABEL
from kwokgen.model.place import Place
from kwokgen.model.topology import Label, Level
from kwokgen.problem import Pos, unknown

OFFSET, PRIME, WRAP = 0xCBF29CE484222325, 0x100000001B3, 2**64
"""http://www.isthe.com/chongo/tech/comp/fnv/"""


class Scheme(NamedTuple):
    """The label key of each level that has one; `hashes` is whether values that are too long are hashed."""

    name: str
    keys: Mapping[str, str]
    node: str | None
    hashes: bool
    pos: Pos


def keys_of(scope: Scope, item: Data, at: Place, levels: tuple[Level, ...]) -> list[Scheme]:
    """Every scheme with its keys; no key may say two things."""
    found = []
    for index, written in enumerate(item["schemes"]):
        pos = at.pos("schemes", index)
        if isinstance(written, str):
            fact = scope.fact("topologies", written, pos, "label scheme")
            found += [_catalogued(scope, fact, pos, levels)] if fact else []
        else:
            _known(scope, written["keys"], at.below("schemes", index, "keys"), levels)
            found.append(Scheme("own", written["keys"], None, hashes=False, pos=pos))
    _distinct(scope, found)
    return found


def _catalogued(scope: Scope, fact: Fact, pos: Pos, levels: tuple[Level, ...]) -> Scheme:
    """Keys from the narrowest level on; a scheme that has too few would leave the widest without a label."""
    pattern = fact.data.get("pattern")
    keys = [pattern.format(tier=tier) for tier in range(len(levels))] if pattern else fact.data["keys"]
    if len(keys) < len(levels):
        without = levels[len(levels) - len(keys) - 1].name
        message = f'the scheme "{fact.name}" has no key for the level "{without}": it has {len(keys)}, from "{levels[-1].name}" on'
        hint = "take another scheme, or write keys of your own for the levels that matter: {keys: {" + levels[-1].name
        scope.fail(pos, "topology", message, hint + ": …}}")
    named = zip((level.name for level in reversed(levels)), keys, strict=False)
    return Scheme(fact.name, dict(named), fact.data.get("node"), hashes=fact.data.get("long") == "fnv-64a", pos=pos)


def _known(scope: Scope, keys: Mapping[str, str], at: Place, levels: tuple[Level, ...]) -> None:
    names = [level.name for level in levels]
    for name in keys:
        if name not in names:
            scope.problems.append(unknown(at.key(name), "level", name, names, code="topology"))


def _distinct(scope: Scope, schemes: list[Scheme]) -> None:
    told: dict[str, str] = {}
    for scheme in schemes:
        for level, key in scheme.keys.items():
            if told.setdefault(key, level) != level:
                message = f'the label {key} tells the level "{told[key]}" already, it cannot tell "{level}" as well'
                scope.fail(scheme.pos, "topology", message, "leave out one of the schemes")


def node_keys(schemes: list[Scheme]) -> tuple[str, ...]:
    """The keys whose value is the node's own."""
    return tuple(dict.fromkeys(scheme.node for scheme in schemes if scheme.node))


def labels(scope: Scope, at: Place, levels: tuple[Level, ...], schemes: list[Scheme]) -> tuple[Label, ...]:
    """The labels of each level; keys of one value are one."""
    done: dict[tuple[int, bool], dict[str, None]] = {}
    for number, level in enumerate(levels):
        longest = max(map(len, level.places))
        for scheme in (scheme for scheme in schemes if level.name in scheme.keys):
            hashed = longest > MOST_LABEL and scheme.hashes
            done.setdefault((number, hashed), {})[scheme.keys[level.name]] = None
            if longest > MOST_LABEL and not hashed:
                _too_long(scope, at.pos("levels", number, "name"), level, scheme)
    return tuple(Label(tuple(keys), _texts(levels[number], hashed=hashed)) for (number, hashed), keys in done.items())


def _too_long(scope: Scope, pos: Pos, level: Level, scheme: Scheme) -> None:
    value = max(map(value_of, level.places), key=len)
    message = (
        f'the label {scheme.keys[level.name]} would be "{value}", of {len(value)} characters; {MOST_LABEL} is the most'
    )
    scope.fail(
        pos,
        "topology",
        message,
        "shorten the names of the levels, or take a scheme that hashes such values, as topograph does",
    )


def _texts(level: Level, *, hashed: bool) -> tuple[str, ...]:
    values = [value_of(place) for place in level.places]
    if hashed:
        values = [hash_of(value) if len(value) > MOST_LABEL else value for value in values]
    return tuple(values[number] for number in level.of)


def value_of(place: str) -> str:
    """A place as a label's value: whole, since a domain is all nodes of one value, and without the slashes it may not have."""
    return place.replace("/", "-")


def hash_of(value: str) -> str:
    """A value that is too long, as Topograph writes it: x and its FNV-64a in hexadecimal, without leading zeros.

    https://github.com/NVIDIA/topograph/blob/main/pkg/engines/k8s/labeler.go, checkLabel
    """
    done = OFFSET
    for byte in value.encode():
        done = (done ^ byte) * PRIME % WRAP
    return f"x{done:x}"
