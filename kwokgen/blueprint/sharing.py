"""How one device serves several: by capacity, or by the driver's own configuration."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from kwokgen import formats
from kwokgen.blueprint.scope import Data, Scope
from kwokgen.catalog import Fact
from kwokgen.model.amounts import worth
from kwokgen.model.device import Opaque, Policy
from kwokgen.model.place import Place
from kwokgen.problem import nearest, quoted

OPTIONS = {
    "capacity": ("capacity",),
    "time-slicing": ("interval", "replicas"),
    "mps": ("activeThreadPercentage", "pinnedMemory", "replicas"),
}


def stray(scope: Scope, sharing: Data | None, at: Place) -> None:
    """Notes every option that the way of sharing does not have."""
    for key in sharing or ():
        if sharing and key != "by" and key not in OPTIONS[sharing["by"]]:
            ways = [way for way, options in OPTIONS.items() if key in options]
            scope.fail(at.key(key), "sharing", f'"{key}" is for by: {" and ".join(ways)}', "leave it out")


def policies(scope: Scope, sharing: Data | None, at: Place, capacity: Mapping[str, str]) -> dict[str, Policy]:
    """What claims may ask of each capacity; empty for devices that are not shared so."""
    stray(scope, sharing, at)
    if not sharing or sharing["by"] != "capacity":
        return {}
    if "capacity" not in sharing:
        scope.fail(
            at.pos(),
            "sharing",
            'missing key "capacity": what a claim may ask',
            "capacity: {memory: {min: 1Gi, step: 1Gi}}",
        )
    done = {}
    for name, written in sharing.get("capacity", {}).items():
        total = scope.find(capacity, name, at.key("capacity", name), "capacity of the devices")
        policy = _policy(scope, written, at.below("capacity", name), total) if total else None
        if policy:
            done[name] = policy
    for name in capacity:
        if done and name not in done:
            message = (
                f"nothing says what a claim takes of {name}: the first one takes all of it, and there is no second"
            )
            scope.warn(at.pos("capacity"), "sharing", message, f"add {name}: {{min: …}}")
    return done


def _policy(scope: Scope, written: Data, at: Place, total: str) -> Policy | None:
    if "values" in written:
        return _listed(scope, written, at, total)
    amounts: dict[str, str] = {key: _canonical(at, key) for key in ("min", "max", "step", "default") if key in written}
    if amounts.keys() == {"default"}:
        return _free(scope, amounts["default"], at, total)
    least = amounts.get("min") or amounts.get("step")
    if least is None:
        scope.fail(at.pos(), "sharing", 'missing key "min": the least that a claim may ask')
        return None
    default, most, step = amounts.get("default", least), amounts.get("max"), amounts.get("step")
    for key, value, limit, what in (
        ("max", most, total, "the device's"),
        ("min", least, most or total, "the most"),
        ("default", default, most or total, "the most"),
    ):
        if value and worth(value) > worth(limit):
            scope.fail(at.pos(key), "sharing", f"{key} {value} is above {what} {limit}")
            return None
    if worth(default) < worth(least):
        scope.fail(at.pos("default"), "sharing", f"default {default} is below min {least}")
        return None
    return Policy(default, least, most, step) if _on_step(scope, at, amounts, least, total) else None


def _free(scope: Scope, default: str, at: Place, total: str) -> Policy | None:
    """Any amount may be asked."""
    if worth(default) > worth(total):
        scope.fail(at.pos("default"), "sharing", f"default {default} is above the device's {total}")
        return None
    return Policy(default)


def _on_step(scope: Scope, at: Place, amounts: Mapping[str, str], least: str, total: str) -> bool:
    """The API server asks that default and max are a number of steps above min, and that there is room for a step."""
    step = amounts.get("step")
    if step is None:
        return True
    if not worth(step):
        scope.fail(at.pos("step"), "sharing", "a step of nothing", "leave it out")
        return False
    if worth(least) + worth(step) > worth(total):
        scope.fail(at.pos("step"), "sharing", f"min {least} and one step of {step} are above the device's {total}")
        return False
    off = [key for key in ("default", "max") if key in amounts and (worth(amounts[key]) - worth(least)) % worth(step)]
    for key in off:
        scope.fail(at.pos(key), "sharing", f"{key} {amounts[key]} is no number of steps of {step} above min {least}")
    return not off


def _listed(scope: Scope, written: Data, at: Place, total: str) -> Policy | None:
    for key in ("min", "max", "step"):
        if key in written:
            scope.fail(at.key(key), "sharing", f'"{key}" and "values" exclude each other', "keep one of them")
    values = tuple(_canonical(at, "values", index) for index, _ in enumerate(written["values"]))
    default = _canonical(at, "default") if "default" in written else values[0]
    numbers = [worth(value) for value in values]
    if numbers != sorted(set(numbers)):
        scope.fail(
            at.pos("values"), "sharing", "the values do not ascend", "the API server wants them in order, each once"
        )
    elif numbers[-1] > worth(total):
        scope.fail(at.pos("values", len(values) - 1), "sharing", f"{values[-1]} is above the device's {total}")
    elif default not in values:
        scope.fail(at.pos("default"), "sharing", f"default {default} is none of the values {quoted(values)}")
    else:
        return Policy(default, values=values)
    return None


def _canonical(at: Place, *path: str | int) -> str:
    return formats.canonical(at.raw(*path))


def opaque(
    scope: Scope,
    sharing: Data | None,
    at: Place,
    driver: Fact | None,
    requests: tuple[str, ...] = (),
    *,
    device_class: str = "",
) -> Opaque | None:
    """The driver's parameters for time-slicing or MPS of a class's devices; None for other ways, or with problems."""
    if not sharing or sharing["by"] == "capacity":
        return None
    way = driver.data.get("sharing", {}).get(sharing["by"]) if driver else None
    parted = driver is not None and _parted(driver, device_class)
    way = way.get("partitions") if way and parted else way
    if driver is None or way is None:
        what = f"of {driver.name}" if driver else "here: the driver is not known, or has no such parameters"
        hint = "write the driver's parameters under config"
        cut = " for partitions" if parted else ""
        scope.fail(at.pos("by"), "sharing", f"nothing is known of {sharing['by']}{cut} {what}", hint)
        return None
    _had(scope, sharing, at, way["options"], "partitions" if parted else driver.name)
    parameters: dict[str, Any] = deepcopy(dict(way["parameters"]))
    for key, option in way["options"].items():
        if key in sharing and _allowed(scope, sharing[key], option, at.below(key)):
            _put(parameters, option["path"], _canonical(at, key) if option.get("quantity") else sharing[key])
    return Opaque(driver.name, parameters, requests)


def _parted(driver: Fact, device_class: str) -> bool:
    """Whether a class of the driver's is of partitions."""
    sorts = {entry["name"]: entry.get("of", "devices") for entry in driver.data["classes"]}
    return sorts.get(device_class) == "partitions"


def _had(scope: Scope, sharing: Data, at: Place, options: Mapping[str, Any], what: str) -> None:
    """Notes every option that the way has, and the driver has no place for."""
    for key in OPTIONS[sharing["by"]]:
        if key in sharing and key != "replicas" and key not in options:
            message = f'{sharing["by"]} of {what} has no "{key}". available: {quoted(options) or "none"}'
            scope.fail(at.key(key), "sharing", message, "leave it out")


def _allowed(scope: Scope, value: Any, option: Mapping[str, Any], at: Place) -> bool:
    if "values" in option and value not in option["values"]:
        near = nearest(value, option["values"])
        message = f'"{value}" is not known. available: {quoted(option["values"])}'
        scope.fail(at.pos(), "sharing", message, f'did you mean "{near}"?' if near else "")
        return False
    if "most" in option and value > option["most"]:
        scope.fail(at.pos(), "sharing", f"at most {option['most']}, not {value}")
        return False
    return True


def _put(parameters: dict[str, Any], path: list[str], value: Any) -> None:
    *above, last = path
    for key in above:
        if not isinstance(parameters.get(key), dict):
            parameters[key] = {}
        parameters = parameters[key]
    parameters[last] = value
