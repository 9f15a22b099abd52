"""DeviceClasses and claims: every class is derived, written, or known to be in the cluster."""

from __future__ import annotations

from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.model.claim import Claim, DeviceClass, Request
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool


def device_classes(scope: Scope, spec: Data, at: Place, pools: tuple[Pool, ...]) -> tuple[DeviceClass, ...]:
    """The classes of the blueprint, and one for each driver that it does not name."""
    items = spec.get("deviceClasses", [])
    where = places(at, "deviceClasses", items)
    scope.distinct(items, where, "device classes")
    derived: dict[str, DeviceClass] = {}
    for pool in pools:
        if pool.gpus and pool.slices:
            derived.setdefault(
                pool.gpus.driver,
                DeviceClass(
                    name=pool.gpus.driver, selectors=pool.gpus.selectors, created=True, at=pool.at.below("gpus")
                ),
            )
    written = {
        item["name"]: _device_class(scope, item, place, derived) for item, place in zip(items, where, strict=True)
    }
    return tuple((derived | written).values())


def _device_class(scope: Scope, item: Data, at: Place, derived: dict[str, DeviceClass]) -> DeviceClass:
    base = derived.get(item["name"])
    selectors = item.get("selectors")
    if not item["create"] and selectors:
        scope.fail(
            at.key("selectors"), "device-class", "a class that is not created has no selectors here", "leave them out"
        )
    if item["create"] and not selectors:
        message = f'class "{item["name"]}" has no selectors'
        hint = "the derived class needs no entry" if base else "add selectors, or create: false if the cluster has it"
        scope.fail(at.pos(), "device-class", message, hint)
    return DeviceClass(name=item["name"], selectors=tuple(selectors or ()), created=item["create"], at=at)


def claims(
    scope: Scope, spec: Data, at: Place, classes: tuple[DeviceClass, ...] | None, namespaces: tuple[str, ...]
) -> tuple[Claim, ...]:
    """Every claim; classes of None are not all known, because a pool they may follow from was not understood."""
    items = spec.get("claims", [])
    where = places(at, "claims", items)
    scope.distinct(items, where, "claims")
    known = None if classes is None else {device_class.name: device_class for device_class in classes}
    return tuple(_claim(scope, item, place, known, namespaces) for item, place in zip(items, where, strict=True))


def _claim(
    scope: Scope, item: Data, at: Place, classes: dict[str, DeviceClass] | None, namespaces: tuple[str, ...]
) -> Claim:
    namespace = item.get("namespace", namespaces[0])
    scope.find(dict.fromkeys(namespaces, True), namespace, at.pos("namespace"), "namespace")
    where = places(at, "requests", item["requests"])
    requests = [
        _request(scope, request, place, index, classes)
        for index, (request, place) in enumerate(zip(item["requests"], where, strict=True))
    ]
    named = [{"name": request.name} for request in requests]
    scope.distinct(named, where, "requests of the claim")
    return Claim(name=item["name"], namespace=namespace, shared=item["shared"], requests=tuple(requests), at=at)


def _request(scope: Scope, item: Data, at: Place, index: int, classes: dict[str, DeviceClass] | None) -> Request:
    if classes is not None:
        scope.find(classes, item["deviceClassName"], at.pos("deviceClassName"), "device class")
    everything = item["allocationMode"] == "All"
    if everything and "count" in item:
        scope.fail(
            at.key("count"), "claim", "a request for all devices has no count", "leave out count, or allocationMode"
        )
    selectors = list(item.get("selectors", ()))
    if "model" in item and (selector := _model_selector(scope, item["model"], at)):
        selectors.insert(0, selector)
    return Request(
        name=item.get("name", f"request-{index}"),
        device_class=item["deviceClassName"],
        count=None if everything else item.get("count", 1),
        selectors=tuple(selectors),
        model=item.get("model"),
        at=at,
    )


def _model_selector(scope: Scope, model: str, at: Place) -> str | None:
    """A CEL expression that only devices of the model meet."""
    fact = scope.fact("gpus", model, at.pos("model"), "gpu")
    driver = scope.fact("drivers", fact.data["driver"], fact.at.pos("driver"), "driver") if fact else None
    if fact is None or driver is None:
        return None
    name = driver.data.get("modelAttribute")
    if name is None or name not in fact.data["attributes"]:
        scope.fail(
            at.pos("model"), "claim", f'devices of "{model}" have no attribute that tells their model', "use selectors"
        )
        return None
    return f"device.attributes['{driver.name}'].{name} == '{fact.data['attributes'][name]}'"
