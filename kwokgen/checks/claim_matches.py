"""Claims: some device of the bundle is what they ask for."""

from __future__ import annotations

from collections.abc import Iterator

from kwokgen.checks._devices import has, of_model
from kwokgen.model.amounts import worth
from kwokgen.model.claim import Ask, Claim, Constraint
from kwokgen.model.cluster import Cluster
from kwokgen.model.device import Device, Devices
from kwokgen.problem import Problem, quoted

ID = "claim-match"
SUMMARY = "Some device is of the model, the profile and the size that a claim asks for"
WHOLE = True
ELSEWHERE = "its pods wait until something else brings one"


def check(cluster: Cluster) -> Iterator[Problem]:
    """Claims that no device of the bundle meets."""
    for claim in cluster.claims:
        for request in claim.requests:
            for ask in request.asks:
                yield from _model(cluster, ask)
                yield from _profile(cluster, ask)
                yield from _amounts(cluster, ask)
        for constraint in claim.constraints:
            yield from _constraint(cluster, claim, constraint)


def _offered(cluster: Cluster, ask: Ask) -> list[tuple[Devices, Device]]:
    """The devices of a class that follows from devices."""
    return [(each, device) for each in cluster.published for device in each.offered(ask.device_class)]


def _model(cluster: Cluster, ask: Ask) -> Iterator[Problem]:
    """Devices of the class have what the model is selected by; a class of one's own may be of any device."""
    if ask.model is None:
        return
    derived = ask.device_class in {offer.name for each in cluster.published for offer in each.offers}
    meant = [(each, each.offered(ask.device_class) if derived else each.devices) for each in cluster.published]
    if any(of_model(ask.model, each.driver, device) for each, devices in meant for device in devices):
        return
    published = [each for each, devices in meant if devices]
    models = {
        pool.gpus.model for pool in cluster.pools if pool.gpus and pool.gpus.model and pool.gpus.devices in published
    }
    message = f'no device of the class "{ask.device_class}" is of the model "{ask.model.name}"'
    if ask.model.name in models:
        message += f': none has the {ask.model.attribute} "{ask.model.value}", by which the claim selects it'
    else:
        message += f". available: {quoted(models) or 'none'}"
    yield Problem(ask.at.pos("model"), ID, message, ELSEWHERE, "warning")


def _profile(cluster: Cluster, ask: Ask) -> Iterator[Problem]:
    wanted = ask.at.raw("profile")
    if wanted and not any(wanted in device.attributes.values() for _, device in _offered(cluster, ask)):
        message = f'no device of the class "{ask.device_class}" has the profile "{wanted}"'
        yield Problem(ask.at.pos("profile"), ID, message, ELSEWHERE, "warning")


def _amounts(cluster: Cluster, ask: Ask) -> Iterator[Problem]:
    """Parts are asked of devices that have so much to give."""
    devices = [device for _, device in _offered(cluster, ask)]
    for name, wanted in ask.capacity.items() if devices else ():
        having = [device for device in devices if name in device.capacity]
        if not having:
            known = sorted({known for device in devices for known in device.capacity})
            message = (
                f'no device of the class "{ask.device_class}" has the capacity "{name}". available: {quoted(known)}'
            )
            yield Problem(ask.at.key("capacity", name), ID, message, "its pods would wait for ever")
        elif all(_above(wanted, device, name) for device in having):
            most = max((_most(device, name) for device in having), key=worth)
            message = (
                f'no device of the class "{ask.device_class}" has {wanted} of {name} for one claim, the most is {most}'
            )
            yield Problem(ask.at.pos("capacity", name), ID, message, "its pods would wait for ever")


def _most(device: Device, name: str) -> str:
    policy = device.policies.get(name)
    values = policy.values if policy else ()
    return values[-1] if values else (policy.most if policy and policy.most else device.capacity[name])


def _above(wanted: str, device: Device, name: str) -> bool:
    return worth(wanted) > worth(_most(device, name))


def _constraint(cluster: Cluster, claim: Claim, constraint: Constraint) -> Iterator[Problem]:
    """Each request has a device with the attribute."""
    for request in claim.requests:
        if constraint.requests and request.name not in {name.partition("/")[0] for name in constraint.requests}:
            continue
        devices = [of for ask in request.asks for of in _offered(cluster, ask)]
        if devices and not any(has(each.driver, device, constraint.attribute) for each, device in devices):
            key = "distinctAttribute" if constraint.distinct else "matchAttribute"
            message = f'no device that the request "{request.name}" can have has the attribute "{constraint.attribute}"'
            yield Problem(constraint.at.pos(key), ID, message, "its pods would wait for ever")
            return
