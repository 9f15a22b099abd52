"""Extended resources of DeviceClasses: one class a name, and no node that counts the name by itself."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.formats import QUOTAS
from kwokgen.model.claim import DeviceClass
from kwokgen.model.cluster import Cluster
from kwokgen.problem import Problem, Related

ID = "extended-resource"
SUMMARY = "An extended resource comes from one DeviceClass, and from no node beside its devices"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Names that no container may ask for, or that would be had twice: KEP-5004."""
    for pool in cluster.pools:
        if pool.gpus and pool.at.raw("gpus", "resource").startswith(QUOTAS):
            message = f'"{pool.gpus.resource}" begins as a quota\'s name of a resource'
            yield Problem(pool.at.pos("gpus", "resource"), ID, message, "such as example.com/gpu")
    seen: dict[str, DeviceClass] = {}
    for entry in cluster.device_classes:
        if entry.resource is None:
            continue
        if wrong := _named_wrong(entry.resource):
            yield Problem(
                entry.at.pos("extendedResourceName"), ID, f'"{entry.resource}" {wrong}', "such as example.com/gpu"
            )
            continue
        if entry.resource in seen:
            first = Related(seen[entry.resource].at.pos("extendedResourceName"), "has it as well")
            message = (
                f'{entry.resource} comes from the class "{seen[entry.resource].name}" too: only one of them is used'
            )
            yield Problem(entry.at.pos("extendedResourceName"), ID, message, "give each its own", related=(first,))
        seen.setdefault(entry.resource, entry)
        yield from _counted(cluster, entry, entry.resource)


def _named_wrong(resource: str) -> str:
    """What the API server has against a name."""
    if "/" not in resource:
        return "has no domain"
    if resource.partition("/")[0].endswith("kubernetes.io"):
        return "is of a domain of Kubernetes' own"
    return "begins as a quota's name of a resource" if resource.startswith(QUOTAS) else ""


def _counted(cluster: Cluster, entry: DeviceClass, resource: str) -> Iterator[Problem]:
    """On a node that has the name in its status, the scheduler counts and never allocates."""
    derived = {offer.name for devices in cluster.published for offer in devices.offers}
    for pool in cluster.pools:
        offered = {offer.name for devices in pool.published for offer in devices.offers}
        # A class of one's own may be of any device.
        of_its = entry.name in offered or entry.name not in derived
        said = pool.gpus is not None and pool.gpus.resource == resource
        if resource in pool.machine.allocatable and pool.published and of_its and not said:
            message = f'nodes of "{pool.name}" have {resource} in their capacity, and devices of the class beside it'
            related = (Related(entry.at.pos("extendedResourceName"), "the class"),)
            hint = "a node has an extended resource by one of both: leave it out of the capacity"
            section = "machine" if pool.at.raw("machine", resource) else "capacity"
            yield Problem(pool.at.pos(section, resource), ID, message, hint, related=related)
