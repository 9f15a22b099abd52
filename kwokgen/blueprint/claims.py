"""Claims: what they ask for, of classes that are there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kwokgen.blueprint.scope import Data, Scope, places, quantities
from kwokgen.blueprint.sharing import opaque, stray
from kwokgen.catalog import Fact
from kwokgen.model.claim import Ask, Claim, Constraint, DeviceClass, Model, Request, Toleration
from kwokgen.model.cluster import Namespace
from kwokgen.model.device import Opaque
from kwokgen.model.place import Place
from kwokgen.problem import quoted

OF_ASKS = ("deviceClassName", "allocationMode", "count", "model", "profile", "selectors", "capacity", "tolerations")


class Known(NamedTuple):
    """What claims refer to; classes of None are not all known, as devices they may follow from were not understood.

    `drivers` is the driver of each class that follows from devices.
    """

    classes: Mapping[str, DeviceClass] | None
    drivers: Mapping[str, str]
    namespaces: tuple[Namespace, ...]


def claims(scope: Scope, spec: Data, at: Place, known: Known) -> tuple[Claim, ...]:
    """Every claim."""
    items = spec.get("claims", [])
    where = places(at, "claims", items)
    scope.distinct(items, where, "claims")
    return tuple(_claim(scope, item, place, known) for item, place in zip(items, where, strict=True))


def _claim(scope: Scope, item: Data, at: Place, known: Known) -> Claim:
    named = {namespace.name: namespace for namespace in known.namespaces}
    wanted = item.get("namespace", known.namespaces[0].name)
    namespace = scope.find(named, wanted, at.pos("namespace"), "namespace")
    where = places(at, "requests", item["requests"])
    requests = [
        _request(scope, request, place, index, known)
        for index, (request, place) in enumerate(zip(item["requests"], where, strict=True))
    ]
    scope.distinct([{"name": request.name} for request in requests], where, "requests of the claim")
    for request in requests:
        if request.admin and namespace and not namespace.admin:
            message = f'claims of the namespace "{namespace.name}" may not have admin access'
            scope.fail(request.at.pos("adminAccess"), "claim", message, "give it adminAccess: true under namespaces")
    names = _names(requests)
    sharing = [
        _shared(scope, entry, place, request.name, known)
        for entry, place, request in zip(item["requests"], where, requests, strict=True)
        if "firstAvailable" not in entry
    ]
    return Claim(
        name=item["name"],
        namespace=wanted,
        shared=item["shared"] is True,
        of_gang=item["shared"] == "gang",
        requests=tuple(requests),
        constraints=tuple(_constraints(scope, item, at, names)),
        config=(*_config(scope, item, at, names), *(one for one in sharing if one)),
        at=at,
    )


def _shared(scope: Scope, item: Data, at: Place, name: str, known: Known) -> Opaque | None:
    """The parameters for sharing of a request's devices."""
    driver, wanted = _driver(scope, item, at, known), item.get("deviceClassName", "")
    if driver is None and known.classes is None:
        return None
    return opaque(scope, item.get("sharing"), at.below("sharing"), driver, (name,), device_class=wanted)


def _names(requests: list[Request]) -> tuple[str, ...]:
    """What constraints and parameters call requests, and the alternatives of one."""
    below = (f"{request.name}/{ask.name}" for request in requests if request.first_available for ask in request.asks)
    return (*(request.name for request in requests), *below)


def _request(scope: Scope, item: Data, at: Place, index: int, known: Known) -> Request:
    name = item.get("name", f"request-{index}")
    if "firstAvailable" not in item:
        if "deviceClassName" not in item and scope.intact(at):
            scope.fail(at.pos(), "claim", 'missing key "deviceClassName"', "or firstAvailable, for alternatives")
        asks = [_ask(scope, item, at, name, known)]
    else:
        _alternatives_only(scope, item, at)
        items = item["firstAvailable"]
        where = places(at, "firstAvailable", items)
        asks = [
            _ask(scope, entry, place, entry.get("name", f"option-{number}"), known)
            for number, (entry, place) in enumerate(zip(items, where, strict=True))
        ]
        scope.distinct([{"name": ask.name} for ask in asks], where, "alternatives of the request")
    if "sharing" in item:
        _not_by_capacity(scope, item, at)
    return Request(name, tuple(asks), "firstAvailable" in item, item["adminAccess"], at)


def _alternatives_only(scope: Scope, item: Data, at: Place) -> None:
    for key in OF_ASKS:
        if at.node.child(key):
            scope.fail(
                at.key(key), "claim", f'"{key}" and "firstAvailable" exclude each other', "put it in the alternatives"
            )
    if item["adminAccess"]:
        scope.fail(at.key("adminAccess"), "claim", "alternatives have no admin access", "write a request of its own")


def _not_by_capacity(scope: Scope, item: Data, at: Place) -> None:
    where = at.below("sharing")
    stray(scope, item["sharing"], where)
    if "firstAvailable" in item:
        scope.fail(at.key("sharing"), "claim", "alternatives have no sharing", "write config for each of them")
    if item["sharing"]["by"] == "capacity":
        message = "a claim asks a shared device for a part of it"
        scope.fail(where.pos("by"), "claim", message, "write capacity: {memory: 10Gi} in the request")
    if "replicas" in item["sharing"]:
        scope.fail(where.key("replicas"), "claim", "replicas are of an extended resource", "leave it out")


def _ask(scope: Scope, item: Data, at: Place, name: str, known: Known) -> Ask:
    device_class = item.get("deviceClassName", "")
    if known.classes is not None and device_class:
        scope.find(known.classes, device_class, at.pos("deviceClassName"), "device class")
    everything = item["allocationMode"] == "All"
    if everything and "count" in item:
        message = "a request for all devices has no count"
        scope.fail(at.key("count"), "claim", message, "leave out count, or allocationMode")
    model = _model(scope, item["model"], at) if "model" in item else None
    tolerations = places(at, "tolerations", item.get("tolerations", ()))
    return Ask(
        name=name,
        device_class=device_class,
        count=None if everything else item.get("count", 1),
        selectors=(*_selectors(scope, item, at, known, model), *item.get("selectors", ())),
        model=model,
        capacity=quantities(item.get("capacity", {}), at.below("capacity")),
        tolerations=tuple(
            _toleration(scope, entry, place)
            for entry, place in zip(item.get("tolerations", ()), tolerations, strict=True)
        ),
        at=at,
    )


def _selectors(scope: Scope, item: Data, at: Place, known: Known, model: Model | None) -> tuple[str, ...]:
    found = [_equals(model.driver, model.attribute, model.value)] if model else []
    if "profile" in item and known.classes is not None and item.get("deviceClassName") in known.classes:
        driver = known.drivers.get(item.get("deviceClassName", ""))
        fact = _driver(scope, item, at, known)
        attribute = fact.data.get("partitions", {}).get("profile") if fact else "profile"
        if driver is None or attribute is None:
            message = f'no driver of the blueprint has partitions of the class "{item.get("deviceClassName", "")}"'
            scope.fail(at.key("profile"), "claim", message, "use selectors")
        else:
            found.append(_equals(driver, attribute, item["profile"]))
    return tuple(found)


def _equals(driver: str, attribute: str, value: str) -> str:
    """A CEL expression that is false, and no error, of a device without the attribute: an error ends the scheduling."""
    domain, _, name = attribute.rpartition("/")
    return f"device.attributes[{_text(domain or driver)}].?{name}.orValue('') == {_text(value)}"


def _model(scope: Scope, model: str, at: Place) -> Model | None:
    """What tells the devices of a model from others."""
    fact = scope.fact("gpus", model, at.pos("model"), "gpu")
    driver = scope.fact("drivers", fact.data["driver"], fact.at.pos("driver"), "driver") if fact else None
    if fact is None or driver is None:
        return None
    name = driver.data.get("modelAttribute")
    if name is None or name not in fact.data["attributes"]:
        message = f'devices of "{model}" have no attribute that tells their model'
        scope.fail(at.pos("model"), "claim", message, "use selectors")
        return None
    value = fact.data["attributes"][name]
    if not isinstance(value, str):
        message = f'"{name}" tells the model of devices of {driver.name}, and is no string'
        scope.fail(fact.at.pos("attributes", name), "catalog", message, "claims select a model by a string")
        return None
    return Model(model, driver.name, name, value)


def _text(value: str) -> str:
    """A string of CEL."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _toleration(scope: Scope, item: Data, at: Place) -> Toleration:
    if item["operator"] == "Exists" and "value" in item:
        scope.fail(at.key("value"), "claim", "Exists has no value", "leave it out, or use Equal")
    if item["operator"] == "Equal" and "key" not in item:
        scope.fail(at.pos("operator"), "claim", "Equal needs a key", "use Exists for every taint")
    if "tolerationSeconds" in item and item.get("effect") != "NoExecute":
        scope.fail(at.key("tolerationSeconds"), "claim", "only NoExecute is tolerated for a time", "effect: NoExecute")
    return Toleration(
        item["operator"], item.get("key"), item.get("value"), item.get("effect"), item.get("tolerationSeconds")
    )


def _constraints(scope: Scope, item: Data, at: Place, names: tuple[str, ...]) -> list[Constraint]:
    done = []
    for index, entry in enumerate(item.get("constraints", ())):
        place = at.below("constraints", index)
        keys = [key for key in ("matchAttribute", "distinctAttribute") if key in entry]
        if len(keys) != 1:
            message = "a constraint has matchAttribute or distinctAttribute" + (", not both" if keys else "")
            scope.fail(place.pos(), "claim", message)
            continue
        attribute = entry[keys[0]]
        if "/" not in attribute:
            hint = f"such as resource.kubernetes.io/{attribute}, or the driver's domain"
            scope.fail(place.pos(keys[0]), "claim", f'"{attribute}" names no domain', hint)
        _referred(scope, entry, place, names)
        done.append(Constraint(attribute, keys[0] == "distinctAttribute", tuple(entry.get("requests", ())), place))
    return done


def _config(scope: Scope, item: Data, at: Place, names: tuple[str, ...]) -> list[Opaque]:
    done = []
    for index, entry in enumerate(item.get("config", ())):
        _referred(scope, entry, at.below("config", index), names)
        done.append(Opaque(entry["driver"], entry["parameters"], tuple(entry.get("requests", ()))))
    return done


def _referred(scope: Scope, entry: Data, at: Place, names: tuple[str, ...]) -> None:
    for index, name in enumerate(entry.get("requests", ())):
        if name not in names:
            message = f'the claim has no request "{name}". available: {quoted(names)}'
            scope.fail(at.pos("requests", index), "reference", message)


def _driver(scope: Scope, item: Data, at: Place, known: Known) -> Fact | None:
    """The catalogue's driver of a request's class."""
    name = known.drivers.get(item.get("deviceClassName", ""))
    if name is None or name not in scope.catalog.names("drivers"):
        return None
    return scope.fact("drivers", name, at.pos(), "driver")
