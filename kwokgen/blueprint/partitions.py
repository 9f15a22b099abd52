"""GPUs cut into partitions: every possible one with counters, or those of a layout."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from kwokgen.blueprint.devices import Whole, fixed
from kwokgen.blueprint.scope import Data, Scope
from kwokgen.blueprint.tables import Profile, Slot, Table, placed, totals
from kwokgen.catalog import Fact
from kwokgen.catalog.rules import UUID
from kwokgen.model.amounts import worth
from kwokgen.model.device import Attribute, CounterSet, Device, Uuid
from kwokgen.model.place import Place
from kwokgen.problem import nearest, quoted

PATTERNS = {
    "device_name": "deviceName",
    "profile": "profile",
    "parent": "parent",
    "prefix": "prefix",
    "counter_set": "counterSet",
    "slice_counter": "sliceCounter",
    "slice_capacity": "sliceCapacity",
}
"""The fields of a form that are texts, with their keys in the catalogue."""


class Form(NamedTuple):
    """How a driver publishes partitions: patterns of names and counters, and the attributes that they have.

    `profile` and `parent` are attributes of the profile's name and of the whole device's uuid, `prefix` begins the
    uuids of partitions that are there; `own` is whether it is that of a driver of one's own.
    """

    modes: tuple[str, ...]
    device_name: str
    attributes: Mapping[str, Attribute] = {}
    profile: str | None = None
    parent: str | None = None
    prefix: str | None = None
    counter_set: str = "{name}-counters"
    slice_counter: str = "slice-{slice}"
    slice_capacity: str | None = None
    own: bool = False

    @property
    def named(self) -> frozenset[str]:
        """The attributes that partitions have by themselves."""
        return frozenset({*self.attributes, *filter(None, (self.profile, self.parent))})


OWN_FORM = Form(("dynamic", "static"), "{name}-{profile}-{start}", profile="profile", own=True)


def form(driver: Fact | None) -> Form | None:
    """A driver's way to publish partitions, or that of a driver of one's own; None for one whose devices are not cut."""
    if driver is None:
        return OWN_FORM
    written = driver.data.get("partitions")
    if written is None:
        return None
    patterns = {name: written[key] for name, key in PATTERNS.items() if key in written}
    return Form(tuple(written["modes"]), attributes=fixed(written["attributes"]), **patterns)


class Cut(NamedTuple):
    """The devices of a node and what keeps them apart."""

    devices: tuple[Device, ...]
    counter_sets: tuple[CounterSet, ...] = ()


def cut(scope: Scope, written: Data, at: Place, whole: Whole, cuts: Table, form: Form) -> Cut | None:
    """The partitions of every GPU of a node; None with problems."""
    mode = written["mode"]
    if mode not in form.modes:
        scope.fail(at.pos("mode"), "partitions", f"{whole.driver} cannot do {mode}. available: {quoted(form.modes)}")
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


def _dynamic(scope: Scope, written: Data, at: Place, whole: Whole, cuts: Table, form: Form) -> Cut | None:
    names = written.get("profiles", list(cuts.profiles))
    chosen = [_known(scope, cuts, name, at, "profiles", index) for index, name in enumerate(names)]
    large = [profile for profile in chosen if profile and not _fits(scope, at, cuts, profile, whole)]
    if large or not all(chosen):
        return None
    counters = _counters(cuts, whole, form)
    devices: list[Device] = []
    sets: list[CounterSet] = []
    for index in range(whole.count):
        held = CounterSet(_text(form.counter_set, whole, index), counters)
        sets.append(held)
        devices.append(whole.device(index)._replace(counter_set=held.name, consumes=counters))
        for profile in filter(None, chosen):
            for start in profile.starts:
                part = _part(whole, index, (profile, start), form)
                used = _used(counters, profile, start, form)
                devices.append(part._replace(counter_set=held.name, consumes=used))
    return Cut(tuple(devices), tuple(sets))


def _fits(scope: Scope, at: Place, cuts: Table, profile: Profile, whole: Whole) -> bool:
    """Whether a partition has no more of anything than the device that it is cut from."""
    index = list(cuts.profiles).index(profile.name)
    above = [name for name, value in profile.capacity.items() if worth(value) > worth(whole.capacity.get(name, value))]
    for name in above:
        message = f"{profile.name} has {profile.capacity[name]} of {name}, the whole device {whole.capacity[name]}"
        scope.fail(at.pos("table", "profiles", index, "capacity", name), "partitions", message)
    return not above


def _counters(cuts: Table, whole: Whole, form: Form) -> dict[str, str]:
    """What a GPU has to give: its capacities and its slices."""
    own = whole.capacity if form.own else {}
    given = {_counter(name): value for name, value in (dict(own) | totals(cuts) | dict(own)).items()}
    return given | {form.slice_counter.format(slice=number): "1" for number in range(cuts.slices)}


def _counter(capacity: str) -> str:
    """A counter is a DNS label: copyEngines is copy-engines."""
    spread = re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", capacity).lower()
    return re.sub(r"[^a-z0-9]+", "-", spread).strip("-")


def _used(counters: Mapping[str, str], profile: Profile, start: int, form: Form) -> dict[str, str]:
    used = {_counter(name): value for name, value in profile.capacity.items()}
    slices = {form.slice_counter.format(slice=number): "1" for number in range(start, start + profile.size)}
    both = used | slices
    return {name: both[name] for name in counters if name in both}


def _part(whole: Whole, index: int, slot: Slot, form: Form) -> Device:
    profile, start = slot
    of = whole.device(index)
    done: dict[str, Attribute] = dict(of.attributes)
    if whole.uuid and whole.uuid[0] in done:
        parent = done.pop(whole.uuid[0])
        if form.parent:
            done[form.parent] = parent
    done |= form.attributes
    if form.profile:
        done[form.profile] = profile.name
    name = _text(
        form.device_name,
        whole,
        index,
        profile=re.sub(r"[^a-z0-9]+", "-", profile.name.replace(".", "")),
        id=profile.id,
        start=start,
    )
    return Device(name, done, profile.capacity, of=index, whole=False)


def _text(pattern: str, whole: Whole, index: int, **more: object) -> str:
    return pattern.format(index=index, name=whole.name(index), **more)


def _static(scope: Scope, written: Data, at: Place, whole: Whole, cuts: Table, form: Form) -> Cut | None:
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
    slots = placed(cuts, [profile for profile, number in wanted if profile for _ in range(number)])
    if slots is None:
        message = "no GPU can be cut so: the partitions do not find room beside each other"
        hint = "" if form.own else "kwokgen catalog gpus MODEL has sizes and starts"
        scope.fail(at.pos("layout"), "partitions", message, hint)
        return None
    devices = (
        _made(_part(whole, index, slot, form), slot, index * len(slots) + number, form, whole.uuid)
        for index in range(whole.count)
        for number, slot in enumerate(slots)
    )
    return Cut(tuple(devices))


def _made(part: Device, slot: Slot, number: int, form: Form, uuid: tuple[str, str] | None = None) -> Device:
    """A partition that is there has a uuid, and says which slices it covers."""
    profile, start = slot
    done = dict(part.attributes)
    if form.prefix is not None:
        done[uuid[0] if uuid else UUID] = Uuid(form.prefix, number)
    covered = range(start, start + profile.size)
    slices = {form.slice_capacity.format(slice=index): "1" for index in covered} if form.slice_capacity else {}
    return part._replace(attributes=done, capacity=dict(part.capacity) | slices)
