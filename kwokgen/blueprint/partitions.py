"""GPUs cut into partitions: every possible one with counters, or those of a layout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from kwokgen import formats
from kwokgen.blueprint.devices import Whole, fixed
from kwokgen.blueprint.scope import Data, Scope, quantities
from kwokgen.catalog.rules import UUID
from kwokgen.model.device import Attribute, CounterSet, Device, Uuid
from kwokgen.model.place import Place
from kwokgen.problem import nearest, quoted

OWN_FORM = {
    "modes": ["dynamic", "static"],
    "deviceName": "{name}-{profile}-{start}",
    "attributes": {},
    "profile": "profile",
    "counterSet": "{name}-counters",
    "sliceCounter": "slice-{slice}",
}
"""How partitions of a driver of one's own are published."""


def form(written: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A driver's way to publish partitions, with the names of counters that it leaves out."""
    if written is None or written is OWN_FORM:
        return written
    return {key: OWN_FORM[key] for key in ("counterSet", "sliceCounter")} | dict(written)


class Profile(NamedTuple):
    """A sort of partition: `size` slices that stand together, from one of `starts` on, at most `most` of a GPU."""

    name: str
    id: int
    size: int
    starts: tuple[int, ...]
    most: int
    capacity: Mapping[str, str]


class Table(NamedTuple):
    """The sorts of partition of a GPU of so many slices, by name."""

    slices: int
    profiles: Mapping[str, Profile]


class Cut(NamedTuple):
    """The devices of a node and what keeps them apart."""

    devices: tuple[Device, ...]
    counter_sets: tuple[CounterSet, ...] = ()


Slot = tuple[Profile, int]
"""A profile and the slice that it begins at."""


def table(scope: Scope, data: Mapping[str, Any], at: Place) -> Table:
    """A table of the catalogue, or one written in a blueprint."""
    slices, done = data["slices"], {}
    for index, entry in enumerate(data["profiles"]):
        where = at.below("profiles", index)
        starts = tuple(entry.get("starts", range(0, slices - entry["size"] + 1, entry["size"])))
        if not starts or max(starts) + entry["size"] > slices:
            message = f"a partition of {entry['size']} slices does not fit {slices}"
            scope.fail(where.pos("starts") if starts else where.pos("size"), "partitions", message)
        capacity = quantities(entry.get("capacity", {}), where.below("capacity"))
        most = entry.get("most", len(starts))
        done[entry["name"]] = Profile(entry["name"], entry.get("id", index), entry["size"], starts, most, capacity)
    scope.distinct(
        data["profiles"], [at.below("profiles", index) for index, _ in enumerate(data["profiles"])], "profiles"
    )
    return Table(slices, done)


def cut(scope: Scope, written: Data, at: Place, whole: Whole, cuts: Table, form: Mapping[str, Any]) -> Cut | None:
    """The partitions of every GPU of a node; None with problems."""
    mode = written["mode"]
    if mode not in form["modes"]:
        scope.fail(at.pos("mode"), "partitions", f"{whole.driver} cannot do {mode}. available: {quoted(form['modes'])}")
        return None
    other = {"dynamic": "layout", "static": "profiles"}[mode]
    if other in written:
        scope.fail(at.key(other), "partitions", f'mode: {mode} has no "{other}"', "leave it out, or change the mode")
    if mode == "dynamic":
        return _dynamic(scope, written, at, whole, cuts, form)
    return _static(scope, written, at, whole, cuts, form)


def _known(scope: Scope, cuts: Table, name: str, at: Place, *path: str | int) -> Profile | None:
    if name not in cuts.profiles:
        near = nearest(name, cuts.profiles)
        message = f'unknown profile "{name}". available: {quoted(cuts.profiles)}'
        scope.fail(at.key(*path), "partitions", message, f'did you mean "{near}"?' if near else "")
    return cuts.profiles.get(name)


def _dynamic(scope: Scope, written: Data, at: Place, whole: Whole, cuts: Table, form: Mapping[str, Any]) -> Cut | None:
    names = written.get("profiles", list(cuts.profiles))
    chosen = [_known(scope, cuts, name, at, "profiles", index) for index, name in enumerate(names)]
    counters = _counters(cuts, whole, form)
    devices: list[Device] = []
    sets: list[CounterSet] = []
    for index in range(whole.count):
        held = CounterSet(_text(form["counterSet"], whole, index), counters)
        sets.append(held)
        devices.append(whole.device(index)._replace(counter_set=held.name, consumes=counters))
        for profile in filter(None, chosen):
            for start in profile.starts:
                part = _part(whole, index, (profile, start), form)
                used = _used(counters, profile, start, form)
                devices.append(part._replace(counter_set=held.name, consumes=used))
    return Cut(tuple(devices), tuple(sets)) if all(chosen) else None


def _counters(cuts: Table, whole: Whole, form: Mapping[str, Any]) -> dict[str, str]:
    """What a GPU has to give: its capacities and its slices."""
    own = whole.capacity if form is OWN_FORM else {}
    given = {_counter(name): value for name, value in _totals(cuts, own).items()}
    return given | {form["sliceCounter"].format(slice=number): "1" for number in range(cuts.slices)}


def _totals(cuts: Table, own: Mapping[str, str]) -> dict[str, str]:
    """The most of each capacity: of the profile that is the whole GPU, or of as many as fill it; `own` when that is more."""
    filled = any(profile.size == cuts.slices for profile in cuts.profiles.values())
    done = dict(own)
    for profile in cuts.profiles.values():
        times = 1 if filled else cuts.slices // profile.size
        for name, value in profile.capacity.items():
            done[name] = max(done.get(name, "0"), _times(value, times), key=_number)
    return done


def _times(amount: str, times: int) -> str:
    """A canonical quantity some times over, in its own unit."""
    unit = amount.lstrip("0123456789.")
    return formats.canonical(f"{Decimal(amount.removesuffix(unit)) * times:f}{unit}") if times > 1 else amount


def _number(amount: str) -> Decimal:
    return formats.quantity(amount) or Decimal(0)


def _counter(capacity: str) -> str:
    """A counter is a DNS label: copyEngines is copy-engines."""
    spread = re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", capacity).lower()
    return re.sub(r"[^a-z0-9]+", "-", spread).strip("-")


def _used(counters: Mapping[str, str], profile: Profile, start: int, form: Mapping[str, Any]) -> dict[str, str]:
    used = {_counter(name): value for name, value in profile.capacity.items()}
    slices = {form["sliceCounter"].format(slice=number): "1" for number in range(start, start + profile.size)}
    both = used | slices
    return {name: both[name] for name in counters if name in both}


def _part(whole: Whole, index: int, slot: Slot, form: Mapping[str, Any]) -> Device:
    profile, start = slot
    of = whole.device(index)
    done: dict[str, Attribute] = dict(of.attributes)
    if whole.uuid and whole.uuid[0] in done:
        parent = done.pop(whole.uuid[0])
        if "parent" in form:
            done[form["parent"]] = parent
    done |= fixed(form["attributes"])
    if "profile" in form:
        done[form["profile"]] = profile.name
    name = _text(
        form["deviceName"],
        whole,
        index,
        profile=re.sub(r"[^a-z0-9]+", "-", profile.name.replace(".", "")),
        id=profile.id,
        start=start,
    )
    return Device(name, done, profile.capacity, of=index, whole=False)


def _text(pattern: str, whole: Whole, index: int, **more: object) -> str:
    return pattern.format(index=index, name=whole.name(index), **more)


def _static(scope: Scope, written: Data, at: Place, whole: Whole, cuts: Table, form: Mapping[str, Any]) -> Cut | None:
    if "layout" not in written:
        hint = "layout: {" + next(iter(cuts.profiles)) + ": 1}"
        scope.fail(at.pos(), "partitions", 'missing key "layout": what each GPU is cut into', hint)
        return None
    wanted = [(_known(scope, cuts, name, at, "layout", name), number) for name, number in written["layout"].items()]
    for profile, number in wanted:
        if profile and number > profile.most:
            pos = at.pos("layout", profile.name)
            scope.fail(pos, "partitions", f"{number} of {profile.name}: a GPU holds {profile.most} at most")
            return None
    if not all(profile for profile, _ in wanted):
        return None
    slots = _placed(cuts, [profile for profile, number in wanted if profile for _ in range(number)])
    if slots is None:
        message = "no GPU can be cut so: the partitions do not find room beside each other"
        hint = "" if form is OWN_FORM else "kwokgen catalog gpus MODEL has sizes and starts"
        scope.fail(at.pos("layout"), "partitions", message, hint)
        return None
    devices = (
        _made(_part(whole, index, slot, form), slot, index * len(slots) + number, form, whole.uuid)
        for index in range(whole.count)
        for number, slot in enumerate(slots)
    )
    return Cut(tuple(devices))


def _made(
    part: Device, slot: Slot, number: int, form: Mapping[str, Any], uuid: tuple[str, str] | None = None
) -> Device:
    """A partition that is there has a uuid, and says which slices it covers."""
    profile, start = slot
    done = dict(part.attributes)
    if "prefix" in form:
        done[uuid[0] if uuid else UUID] = Uuid(form["prefix"], number)
    covered = range(start, start + profile.size) if "sliceCapacity" in form else ()
    slices = {form["sliceCapacity"].format(slice=index): "1" for index in covered}
    return part._replace(attributes=done, capacity=dict(part.capacity) | slices)


def _placed(cuts: Table, wanted: list[Profile]) -> list[Slot] | None:
    """A place for every partition of one GPU, in the order of their starts; the GPU's capacities suffice for all."""
    for name, most in _totals(cuts, {}).items():
        if sum(_number(profile.capacity.get(name, "0")) for profile in wanted) > _number(most):
            return None
    found = next(_placements(sorted(wanted, key=lambda profile: -profile.size), frozenset()), None)
    return sorted(found, key=lambda slot: slot[1]) if found is not None else None


def _placements(left: list[Profile], taken: frozenset[int]) -> Iterator[list[Slot]]:
    if not left:
        yield []
        return
    first, *rest = left
    for start in first.starts:
        covered = frozenset(range(start, start + first.size))
        if not covered & taken:
            yield from ([(first, start), *more] for more in _placements(rest, taken | covered))
