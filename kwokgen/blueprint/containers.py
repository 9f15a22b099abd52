"""Containers of pods, and the taints that their pods tolerate."""

from __future__ import annotations

from kwokgen.blueprint.scope import Data, quantities
from kwokgen.formats import PAGES
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool
from kwokgen.model.taint import Taint
from kwokgen.model.workload import Container


def container(item: Data, at: Place, extra: dict[str, str]) -> Container:
    """A container with `extra` limits; what no node gives more of than it has is limited too: extended resources and huge pages."""
    requests = quantities(item.get("resources", {}), at.below("resources"))
    limits = {name: value for name, value in requests.items() if "/" in name or name.startswith(PAGES)} | extra
    return Container(
        name=item["name"],
        image=item["image"],
        command=tuple(item.get("command", ())),
        requests=requests,
        limits=limits,
    )


def tolerations(pools: tuple[Pool, ...]) -> tuple[Taint, ...]:
    """One for each taint of the pools; a valueless taint is tolerated by its key alone."""
    taints = {taint: None for pool in pools for taint in pool.taints}
    return tuple(taints)
