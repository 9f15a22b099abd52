"""Steps of faults: entries of the catalogue one after another, with the effects that each can have."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

from kwokgen import formats
from kwokgen.blueprint import detectors
from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.catalog import Fact
from kwokgen.model.fault import Condition, Event, Exit, Step
from kwokgen.model.gpu import Gpus
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool
from kwokgen.model.taint import Taint
from kwokgen.problem import quoted

EFFECTS = (
    "conditions",
    "taint",
    "cordon",
    "labels",
    "deviceTaint",
    "deviceGone",
    "allocatable",
    "exit",
    "event",
    "gone",
)
OF_SLICES = ("deviceTaint", "deviceGone")


class Written(NamedTuple):
    """A step as the blueprint and the catalogue have it."""

    item: Data
    at: Place
    fact: Fact

    @property
    def of_gpu(self) -> bool:
        """Whether it happens to GPUs."""
        return bool(self.fact.data["of"] == "gpu")

    @property
    def gone(self) -> bool:
        """Whether the node is deleted."""
        return "gone" in self.fact.data["effects"]


def read(scope: Scope, item: Data, at: Place) -> tuple[Written, ...] | None:
    """A fault itself and what follows it; None where an entry is not understood."""
    later = item.get("then", [])
    both = zip((item, *later), (at, *places(at, "then", later)), strict=True)
    facts = [(each, place, scope.fact("faults", each["fault"], place.pos("fault"), "fault")) for each, place in both]
    found = tuple(Written(each, place, fact) for each, place, fact in facts if fact)
    return found if len(found) == len(facts) else None


def steps(scope: Scope, written: Sequence[Written], pool: Pool, gpus: tuple[int, ...]) -> tuple[tuple[Step, ...], bool]:
    """Each with its time since the begin of the first, and whether nodes can be born with them."""
    done: list[Step] = []
    begin, born = 0, len(written) == 1 and not written[0].gone
    for step in written:
        _possible(scope, step, pool, written[0].at)
        _ends(scope, step, last=step is written[-1])
        effects = _wanted(scope, step)
        _possible_effects(scope, step, pool)
        if "exit" in effects:
            _exits(scope, step, written[0].item, again=any(each.exit for each in done))
        conditions = step.fact.data["effects"]["conditions"] if "conditions" in effects else {}
        turned = detectors.turned(scope, conditions, pool.detectors, step.fact.at)
        # What the Stage that makes nodes Ready writes, no node can be born with.
        born = born and not any(each.born for each in turned)
        end = begin + seconds(scope, step.item["for"], step.at, "for") if "for" in step.item else None
        faulty = tuple(each.condition for each in turned)
        made = _step(step, effects, faulty, pool, gpus if step.of_gpu else ())
        if not made.effective and (pool.gpus or not step.of_gpu):
            message = f'nodes of "{pool.name}" show nothing of {step.fact.name}: it has no effect left'
            scope.fail(step.at.pos("fault"), "fault", message, "name effects that they can have (effects)")
        done.append(made._replace(begin=begin, end=end))
        begin = end or begin
    return tuple(done), born


def _possible(scope: Scope, step: Written, pool: Pool, fault: Place) -> None:
    name = step.fact.name
    if step.of_gpu and pool.gpus is None and "gpus" not in scope.doubtful:
        scope.fail(fault.pos("where", "pool"), "fault", f"{name} is of a GPU, and the nodes of {pool.name} have none")
    if pool.gpus and (why := _foreign(step.fact, pool.gpus)):
        scope.fail(step.at.pos("fault"), "fault", why, "take another fault, or another pool")


def _foreign(fact: Fact, gpus: Gpus) -> str:
    """Why the GPUs of a pool are not those that the fault is known of; empty if they are, or are one's own."""
    driver, made = fact.data.get("driver"), gpus.devices.devices[0].attributes.get("architecture")
    if gpus.model and driver not in {None, gpus.devices.driver}:
        return f"{fact.name} is of GPUs of {driver}, the pool has those of {gpus.devices.driver}"
    allowed = fact.data.get("architectures")
    if allowed and gpus.model and made not in allowed:
        return f"{fact.name} is not known of GPUs of {made}: it is of {quoted(allowed)}"
    return ""


def _ends(scope: Scope, step: Written, *, last: bool) -> None:
    """What is followed by something ends, and a node that is gone does not come back."""
    name = step.fact.name
    if step.gone and "for" in step.item:
        message = f"{name} has no end: only an apply of the nodes makes the node anew"
        scope.fail(step.at.key("for"), "fault", message, "leave it out")
    elif step.gone and not last:
        scope.fail(step.at.pos("fault"), "fault", f"nothing can follow {name}", "make it the last step")
    elif not last and "for" not in step.item:
        message = f"{name} has no end, and a step follows it"
        scope.fail(step.at.pos("fault"), "fault", message, "say how long it lasts, such as for: 10m")


def _possible_effects(scope: Scope, step: Written, pool: Pool) -> None:
    """What the blueprint asks for by name, and the pool's GPUs have not; what an entry has for others is left out."""
    for key, word in step.item.get("effects", {}).items():
        of_slices = key in OF_SLICES
        if word and pool.gpus and key in (*OF_SLICES, "allocatable") and of_slices != pool.slices:
            gpus = "an extended resource, not DRA devices" if of_slices else "DRA devices, which no node counts"
            message = f'the GPUs of "{pool.name}" are {gpus}: they have no {key}'
            hint = f"write {'allocatable' if of_slices else 'deviceGone or deviceTaint'}, or leave it out"
            scope.fail(step.at.key("effects", key), "fault", message, hint)


def _exits(scope: Scope, step: Written, fault: Data, *, again: bool) -> None:
    at = step.at.key("effects", "exit")
    if again:
        scope.fail(at, "fault", "pods end once: a step before this one has an exit as well", "leave one of them out")
    elif "manual" not in fault.get("start", {}):
        message = "a pod cannot see when the fault of its node begins: pods end when they are labelled by hand"
        scope.fail(at, "fault", message, "write start: {manual: true}, or a taint: NoExecute")


def _wanted(scope: Scope, step: Written) -> list[str]:
    """The effects by default and by wish."""
    known, optional = step.fact.data["effects"], step.fact.data.get("optional", ())
    asked = step.item.get("effects", {})
    for key in asked:
        if key not in known:
            message = f'{step.fact.name} has no effect "{key}". available: {quoted(known)}'
            scope.fail(step.at.key("effects", key), "fault", message)
    found = [key for key in EFFECTS if key in known and asked.get(key, key not in optional)]
    if "deviceGone" not in found:
        return found
    if asked.get("deviceTaint"):
        message = "a device that is gone has no taint"
        hint = "leave one out: deviceTaint: NoExecute ends its pods, and deviceGone in a step after it (then) takes it"
        scope.fail(step.at.key("effects", "deviceTaint"), "fault", message, hint)
    return [key for key in found if key != "deviceTaint"]


def _said(step: Written, key: str) -> Any:
    """What the entry says of an effect, with the word of the blueprint where that is more than whether."""
    effect, word = step.fact.data["effects"][key], step.item.get("effects", {}).get(key)
    return effect | {"effect": word} if isinstance(word, str) else effect


def _step(
    step: Written, wanted: Sequence[str], conditions: tuple[Condition, ...], pool: Pool, gpus: tuple[int, ...]
) -> Step:
    effects = {key: _said(step, key) for key in wanted}
    number = ",".join(map(str, gpus))
    event = effects.get("event")
    return Step(
        entry=step.fact.name,
        begin=0,
        end=None,
        conditions=tuple(_numbered(each, number) for each in conditions),
        taint=Taint(**effects["taint"]) if "taint" in effects else None,
        cordon=effects.get("cordon", False),
        labels=effects.get("labels", {}),
        device_taint=Taint(**effects["deviceTaint"]) if "deviceTaint" in effects and pool.slices else None,
        device_gone="deviceGone" in effects and pool.slices,
        allocatable=len(gpus) * effects.get("allocatable", 0) if pool.exposes_resource else 0,
        exit=_exit(effects["exit"], number) if "exit" in effects else None,
        event=Event(event.get("type", "Warning"), event["reason"], _told(event["message"], number)) if event else None,
        gone="gone" in effects,
    )


def _exit(words: Data, gpus: str) -> Exit:
    return Exit(words["exitCode"], words["reason"], _told(words.get("message", ""), gpus))


def _numbered(condition: Condition, gpus: str) -> Condition:
    return condition._replace(faulty=condition.faulty._replace(message=_told(condition.faulty.message, gpus)))


def _told(message: str, gpus: str) -> str:
    return message.replace("$gpu", gpus)


def seconds(scope: Scope, text: str, at: Place, *path: str) -> int:
    """Whole seconds, which is all that a node's creation is known to."""
    length = formats.milliseconds(text)
    if length % 1000 or (path[-1] != "after" and not length):
        scope.fail(at.pos(*path), "fault", f"{text} is not whole seconds, and at least one", "such as 30s")
    return ceil(length / 1000)
