"""What a claim asks one node for, and how much of it the nodes of a pool have; never less than there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from kwokgen.celselects import selects
from kwokgen.checks._devices import PATCHED, Of, attribute, of_model
from kwokgen.model.claim import Ask, Claim, Constraint, DeviceClass, Toleration
from kwokgen.model.cluster import Cluster
from kwokgen.model.device import Device, Listed, Uuid, Version
from kwokgen.model.pool import Pool

NEEDS_ONE = 33
"""From this minor on, All is one device at least: https://github.com/kubernetes/kubernetes/pull/129560"""
MISCOUNTED = "distinct-attribute-miscounted"


class Want(NamedTuple):
    """Devices of a class on one node: those that an ask means, or of several asks any; a constraint is of all of them."""

    count: int  # type: ignore[assignment]  # over the method of tuples
    device_class: str
    ask: Ask | None = None
    constraint: Constraint | None = None

    @property
    def of_class(self) -> Want:
        """As many devices of the class, whichever they are."""
        return Want(self.count, self.device_class)

    @property
    def tolerant(self) -> Want:
        """The same, whatever taints the devices have."""
        every = (Toleration("Exists"),)
        return self._replace(ask=self.ask._replace(tolerations=every)) if self.ask else self


Wanted = tuple[Want, ...]
"""Of which one is enough."""


def patched(cluster: Cluster) -> bool:
    """Whether patches say something else of devices and claims than the blueprint's words do."""
    kinds = {*PATCHED, "ResourceSlice"}
    return any(patch.kind in kinds and "spec" in patch.merge for patch in cluster.patches)


def wants(cluster: Cluster, claim: Claim) -> Iterator[Wanted]:
    """What one node has to have, or the claim's pods do not run there."""
    for request in claim.requests:
        yield tuple(Want(_least(cluster, ask), ask.device_class, ask) for ask in request.asks)
    own = [request.asks[0] for request in claim.requests if not request.first_available and not request.admin]
    for name, times in Counter(ask.device_class for ask in own).items():
        if times > 1:
            yield (Want(sum(_least(cluster, ask) for ask in own if ask.device_class == name), name),)
    for constraint in claim.constraints:
        yield from ((want,) for want in constrained(cluster, claim, constraint))


def constrained(cluster: Cluster, claim: Claim, constraint: Constraint) -> Iterator[Want]:
    """The devices of a constraint, where all are of one class."""
    held = [one for one in claim.requests if not constraint.requests or one.name in constraint.requests]
    asks = [one.asks[0] for one in held if not one.first_available and not one.admin]
    count = sum(_least(cluster, ask) for ask in asks)
    # There the third device may repeat a value.
    unsure = constraint.distinct and count > 2 and MISCOUNTED in cluster.kubernetes.faults
    if len(asks) == len(held) and len({ask.device_class for ask in asks}) == 1 and not unsure:
        yield Want(count, asks[0].device_class, asks[0] if len(asks) == 1 else None, constraint)


def _least(cluster: Cluster, ask: Ask) -> int:
    return int(int(cluster.kubernetes.minor.partition(".")[2]) >= NEEDS_ONE) if ask.count is None else ask.count


def met(cluster: Cluster, pool: Pool, wanted: Wanted) -> bool:
    """Whether a node of a pool has enough for one of them, as far as that is known."""
    return any(most(cluster, pool, want) >= want.count for want in wanted)


def most(cluster: Cluster, pool: Pool, want: Want) -> float:
    """The most devices of a node that it can be given; without end where that is not known, or one may be had twice."""
    entry = next((entry for entry in cluster.device_classes if entry.name == want.device_class), None)
    # Which devices are of a class that only the cluster has, is not known here.
    if entry is None or not entry.selectors:
        return inf
    found = [of for of in _devices(cluster, pool, entry, want.ask) if want.ask is None or _means(want.ask, *of)]
    if any(device.policies for _, device in found):
        return inf
    return _alike(found, want.constraint) if want.constraint else len(found)


def _devices(cluster: Cluster, pool: Pool, entry: DeviceClass, ask: Ask | None) -> Iterator[Of]:
    """Those beside the node too; labels that choose among nodes may come from anywhere, and leave none out here."""
    beside = (each.devices for each in cluster.network_devices if not each.pools or pool.name in each.pools)
    own = entry.selectors if entry.at.node.child("selectors") else ()
    had = (each.had(pool.count, ask.cannot_have) for each in pool.published) if ask else pool.had
    for each in (*had, *beside):
        for device in each.devices if own else each.offered(entry.name):
            if _may_select(own, each.driver, device):
                yield each.driver, device


def _means(ask: Ask, driver: str, device: Device) -> bool:
    profile = ask.at.raw("profile")
    model = ask.model is None or of_model(ask.model, driver, device)
    cut = not profile or profile in device.attributes.values()
    made = (ask.model is not None) + bool(profile)
    return model and cut and _may_select(ask.selectors[made:], driver, device)


def _may_select(selectors: tuple[str, ...], driver: str, device: Device) -> bool:
    return all(selects(text, driver, device) is not False for text in selectors)


def _alike(found: list[Of], constraint: Constraint) -> float:
    """How many have a value in common, or how many values there are."""
    values = [value for of in found if (value := attribute(*of, constraint.attribute)) is not None]
    # Versions may be equal in several spellings, and numbers of uuids are those of one driver's list.
    unsure = (Listed, Version, Uuid) if constraint.distinct else (Listed, Version)
    if any(isinstance(value, unsure) for value in values):
        return inf
    numbers = Counter((type(value), value) for value in values)
    return len(numbers) if constraint.distinct else max(numbers.values(), default=0)
