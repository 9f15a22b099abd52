"""When faults are, in jq, from what an object says: its creation, its labels, and when a person began one."""

from __future__ import annotations

from collections.abc import Iterable
from json import dumps

from kwokgen.model.fault import Fault

ARMED = "armed"


def within(fault: Fault, begin: int, end: int | None) -> str:
    """In jq, whether it is a time of a fault, in seconds since its begin; empty where a label alone says so."""
    by_hand = fault.start.sort == "manual"
    if fault.repeat is None:
        first = "" if by_hand and not begin else f"now >= {moment(fault, begin)}"
        return all_of(first, "" if end is None else f"now < {moment(fault, end)}")
    age = f"(now - ({moment(fault, 0)})) % {fault.repeat.every}"
    return all_of(
        "" if by_hand else f"now >= {moment(fault, 0)}",
        "" if fault.lasts is None else f"now < {moment(fault, fault.lasts)}",
        f"{age} >= {begin}" if begin else "",
        f"{age} < {end}",
    )


def moment(fault: Fault, seconds: int) -> str:
    """In jq, so many seconds after the begin of a fault; one by hand that has not begun begins now."""
    if fault.start.sort == "at":
        return f"{fault.start.seconds + seconds}"
    if fault.start.sort == "manual":
        return f"((.metadata.annotations[{dumps(since(fault))}] // empty | tonumber) // now) + {seconds}"
    return f"(.metadata.creationTimestamp | fromdateiso8601) + {fault.start.seconds + seconds}"


def wanted(fault: Fault) -> str:
    """What the label says of an object that has the fault, or will have it."""
    return "on" if fault.start.sort == "manual" else ARMED


def labelled(fault: Fault) -> str:
    """In jq, whether the label says so."""
    return f".metadata.labels[{dumps(fault.label)}] == {dumps(wanted(fault))}"


def since(fault: Fault) -> str:
    """The annotation of when a fault by hand began, in seconds of Unix time; no fault has a name with a dot."""
    return f"{fault.label}.since"


def all_of(*expressions: str) -> str:
    """In jq, whether all hold; of none it says nothing."""
    return " and ".join(filter(None, expressions))


def turns(fault: Fault) -> str:
    """In jq, the moments at which something is to be done; empty where only a label says so."""
    bounds = (bound for step in fault.steps for bound in (step.begin, step.end) if bound is not None)
    # A fault by hand begins when its label is set, but not again.
    begins = fault.start.sort != "manual" or fault.repeat is not None
    seconds = tuple(dict.fromkeys(bound for bound in bounds if bound or begins))
    if not seconds:
        return ""
    moments = ", ".join(moment(fault, each) for each in seconds) if fault.repeat is None else _rounds(fault, seconds)
    begun = f".metadata.annotations[{dumps(since(fault))}]" if fault.start.sort == "manual" else ""
    return f"if {all_of(labelled(fault), begun)} then ({moments}) else empty end"


def _rounds(fault: Fault, seconds: Iterable[int]) -> str:
    """In jq, the moments of the time that it is, and of the next one."""
    every, times = (fault.repeat.every, fault.repeat.times) if fault.repeat else (0, None)
    now = f"({moment(fault, 0)}) as $zero | ([(now - $zero) / {every} | floor, 0] | max) as $time | ($time, $time + 1)"
    more = f" | select(. < {times})" if times else ""
    return f"{now}{more} | $zero + . * {every} + ({', '.join(map(str, seconds))})"
