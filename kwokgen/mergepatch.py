"""JSON merge patches (RFC 7386): what one makes of a value, and whether one reaches a path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

KEYED = {"conditions": "type", "addresses": "type", "podIPs": "ip", "hostIPs": "ip"}
"""Lists of the status of nodes and pods that a strategic patch merges, by the patchMergeKey of
https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/api/core/v1/types.go"""


def merged(value: Any, patch: Any, *, strategic: bool = False) -> Any:
    """RFC 7386: mappings are merged, null removes, everything else replaces.

    `strategic` merges lists by their key where the API has one. Neither argument is changed.
    """
    if not isinstance(patch, Mapping):
        return deepcopy(patch)
    done = dict(value) if isinstance(value, Mapping) else {}
    for key, below in patch.items():
        if below is None:
            done.pop(key, None)
        elif strategic and key in KEYED and isinstance(below, list):
            done[key] = _by_key(done.get(key), below, KEYED[key])
        else:
            done[key] = merged(done.get(key), below, strategic=strategic)
    return done


def _by_key(value: Any, items: list[Any], key: str) -> list[Any]:
    done: dict[Any, Any] = {}
    for item in [*(value or []), *items]:
        name = item.get(key) if isinstance(item, Mapping) else None
        done[name] = merged(done.get(name), item, strategic=True)
    return list(done.values())


def reaches(patch: Any, path: Sequence[str | int]) -> bool:
    """Whether a patch writes or removes what is at a path, or what holds it."""
    for step in path:
        if not isinstance(patch, Mapping):
            return True
        if step not in patch:
            return False
        patch = patch[step]
    return True
