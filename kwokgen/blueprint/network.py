"""Devices that belong to no node, and taints as objects of their own."""

from __future__ import annotations

from kwokgen.blueprint.devices import OWN_NAME, Base, counted, offers, whole
from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.blueprint.sharing import opaque
from kwokgen.model.cluster import published
from kwokgen.model.device import Devices, DeviceTaintRule, NetworkDevices
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool
from kwokgen.model.taint import Taint
from kwokgen.problem import nearest, quoted

ELSEWHERE = "it taints devices of other nodes only"


def network_devices(scope: Scope, spec: Data, at: Place) -> tuple[NetworkDevices, ...]:
    """Every list of devices that could be understood."""
    items = spec.get("networkDevices", [])
    where = places(at, "networkDevices", items)
    scope.distinct(items, where, "network devices")
    pools = dict.fromkeys((pool["name"] for pool in spec["pools"]), True)
    made = [_devices(scope, item, place, pools) for item, place in zip(items, where, strict=True)]
    if not all(made):
        scope.doubtful.add("networkDevices")
    return tuple(devices for devices in made if devices)


def _devices(scope: Scope, item: Data, at: Place, pools: dict[str, bool]) -> NetworkDevices | None:
    nodes = item["nodes"] if isinstance(item["nodes"], dict) else {}
    for index, name in enumerate(nodes.get("pools", ())):
        scope.find(pools, name, at.pos("nodes", "pools", index), "pool")
    if not counted(scope, item, at, item["count"]):
        return None
    devices = Devices(
        driver=item["driver"],
        devices=whole(scope, item, at, item["count"], Base(item["driver"], OWN_NAME)).all(),
        counter_sets=(),
        marks=(),
        offers=offers(item["driver"], None),
        config=opaque(scope, item.get("sharing"), at.below("sharing"), None),
        at=at,
    )
    return NetworkDevices(item["name"], devices, tuple(nodes.get("pools", ())), nodes.get("labels", {}), at)


def device_taint_rules(
    scope: Scope, spec: Data, at: Place, pools: tuple[Pool, ...], network: tuple[NetworkDevices, ...]
) -> tuple[DeviceTaintRule, ...]:
    """Every rule; one that names nothing would taint every device of the cluster, real ones too."""
    items = spec.get("deviceTaintRules", [])
    where = places(at, "deviceTaintRules", items)
    scope.distinct(items, where, "device taint rules")
    named = {pool.name: pool for pool in pools}
    made = [_rule(scope, item, place, named) for item, place in zip(items, where, strict=True)]
    if not scope.doubtful & {"pools", "networkDevices"}:
        for rule in made:
            _met(scope, rule, published(pools, network))
    return tuple(made)


def _rule(scope: Scope, item: Data, at: Place, pools: dict[str, Pool]) -> DeviceTaintRule:
    taint = Taint(item["key"], item["effect"], item.get("value"))
    pool = scope.find(pools, item["pool"], at.pos("pool"), "pool") if "pool" in item else None
    node = None
    if wrong := _unsaid(item):
        key, message, hint = wrong
        scope.fail(at.key(key) if key else at.pos(), "device-taint-rule", message, hint)
    elif pool:
        node = pool.names.name(item["node"])
        _there(scope, item, at, pool)
    elif "pool" not in item:
        message = f"the rule taints devices of {item['driver']} on every node of the cluster, real ones too"
        scope.warn(at.pos("driver"), "device-taint-rule", message, "say pool and node")
    return DeviceTaintRule(item["name"], item.get("driver"), node, item.get("device"), taint, at)


def _met(scope: Scope, rule: DeviceTaintRule, devices: tuple[Devices, ...]) -> None:
    """Notes a rule for the whole cluster that no device of the bundle meets; a real one may."""
    if rule.driver is None or rule.at.node.child("pool") or rule.at.node.child("node"):
        return
    drivers = {each.driver for each in devices}
    names = {device.name for each in devices if each.driver == rule.driver for device in each.devices}
    if rule.driver not in drivers:
        near = nearest(rule.driver, drivers)
        message = f"no device of the bundle is of {rule.driver}. available: {quoted(drivers) or 'none'}"
        scope.warn(
            rule.at.pos("driver"), "device-taint-rule", message, f'did you mean "{near}"?' if near else ELSEWHERE
        )
    elif rule.device is not None and rule.device not in names:
        near = nearest(rule.device, names)
        message = f'{rule.driver} has no device "{rule.device}" in the bundle. available: {quoted(names)}'
        scope.warn(
            rule.at.pos("device"), "device-taint-rule", message, f'did you mean "{near}"?' if near else ELSEWHERE
        )


def _unsaid(item: Data) -> tuple[str, str, str] | None:
    """A key with what is wrong and a hint, for a rule that says too little."""
    if "driver" not in item and "pool" not in item:
        message = "without driver or pool, the rule would taint devices of the whole cluster"
        return "", message, "say driver, or pool and node"
    if ("pool" in item) != ("node" in item):
        key = "pool" if "pool" in item else "node"
        return key, "a rule names one node, by the name of a pool and an index", "write both, or neither"
    if "device" in item and "driver" not in item:
        return "device", f'"{item["device"]}" may be a device of several drivers', "say the driver"
    return None


def _there(scope: Scope, item: Data, at: Place, pool: Pool) -> None:
    """The node, and what the rule says of its devices, are there."""
    if item["node"] >= pool.count:
        message = f'"{pool.name}" has no node {item["node"]}: they are 0 to {pool.count - 1}'
        scope.fail(at.pos("node"), "device-taint-rule", message)
    of = {devices.driver: devices for devices in pool.published}
    if "pools" in scope.doubtful:
        return
    if "driver" in item and item["driver"] not in of:
        message = f'nodes of "{pool.name}" have no devices of {item["driver"]}. available: {quoted(of) or "none"}'
        scope.fail(at.pos("driver"), "device-taint-rule", message)
    elif "device" in item and all(item["device"] != device.name for device in of[item["driver"]].devices):
        message = f'{item["driver"]} has no device "{item["device"]}" on nodes of "{pool.name}"'
        scope.fail(at.pos("device"), "device-taint-rule", message)
