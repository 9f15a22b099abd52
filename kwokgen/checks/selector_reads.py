"""CEL expressions of classes and claims: the devices have what they read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kwokgen.celreads import How, Read
from kwokgen.checks._devices import Of, Selector, selectors
from kwokgen.model.cluster import Cluster
from kwokgen.model.device import Device
from kwokgen.problem import Problem, nearest, quoted

ID = "selector-reads"
SUMMARY = "Selectors read attributes and capacities that the devices have"
WHOLE = True


def check(cluster: Cluster) -> Iterator[Problem]:
    """Expressions at which the scheduler fails: a name that a device lacks ends the attempt."""
    for selector in selectors(cluster):
        from kwokgen import cel

        for read, how in cel.reads(selector.text).items():
            asked = [of for of in _asked(cluster, selector) if selector.device_class or of[0] == read.domain]
            if asked:
                yield from _missing(selector, read, how, asked)


def _asked(cluster: Cluster, selector: Selector) -> list[Of]:
    """The devices that come to the expression: those of the claim's class, or any of a class of one's own."""
    for_class = selector.device_class
    return [
        (each.driver, device)
        for each in cluster.published
        for device in (each.offered(for_class) if for_class else each.devices)
    ]


def _missing(selector: Selector, read: Read, how: How, asked: Sequence[Of]) -> Iterator[Problem]:
    section, domain, name = read
    had = [_names(section, domain, *of) for of in asked]
    some, others = sum(name in names for names in had), frozenset[str]().union(*had)
    if some == 0:
        near = nearest(name, others)
        what = f'the selector reads {section} "{name}" of {domain}, which no device has. available: {quoted(others) or "none"}'
        never = "a pod with this claim is never scheduled" if how != "perhaps" else f"ask for it: {_optional(read)}"
        yield Problem(
            selector.pos,
            ID,
            what,
            f'did you mean "{near}"?' if near else never,
            "warning" if how == "perhaps" else "error",
        )
    elif some < len(asked) and selector.first and selector.device_class and how == "always":
        what = f'the selector reads {section} "{name}", which {len(asked) - some} devices of the class do not have'
        yield Problem(
            selector.pos, ID, what, f"at the first of them the scheduler gives up: {_optional(read)}", "warning"
        )


def _optional(read: Read) -> str:
    return f"device.{read.section}['{read.domain}'].?{read.name}.orValue(…)"


def _names(section: str, domain: str, driver: str, device: Device) -> frozenset[str]:
    """The names of a domain: those without are of the driver's own."""
    all_of = device.attributes if section == "attributes" else device.capacity
    own = frozenset(key for key in all_of if "/" not in key) if domain == driver else frozenset[str]()
    return own | {key.removeprefix(f"{domain}/") for key in all_of if key.startswith(f"{domain}/")}
