"""Stages that begin, hold and end the faults of nodes: pure functions of the time and of what the object says.

Every Stage asks what should be now and what is. So a fault that somebody's apply has healed comes back, one that is
over ends also when the controller was away, and none fires twice: there is nothing left to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.fault import Condition, Fault
from kwokgen.model.labels import INSTANCE, POOL
from kwokgen.model.pool import Pool
from kwokgen.resources._patches import added, escaped, removed, text, without

FAULT = "kwokgen.io/fault-"
CLOCK = "kwokgen.io/clock"
ARMED = "armed"
BORN = "born"
AT_ONCE = 1_000_000
"""Any other Stage of the node waits: one that is drawn instead would keep this one from its time."""
WAITING = 1
"""Heartbeats, of weight 0, do not delay the clock; what has to be done at once is not delayed by it."""


def label(fault: Fault) -> str:
    """The label of the nodes that a fault is for; as an annotation it says how far the fault is."""
    return FAULT + fault.name


def value(fault: Fault) -> str:
    """What the label says at a node's birth."""
    return ARMED if fault.stages else BORN


def stages(cluster: Cluster) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and specs of all Stages of nodes' faults."""
    pools = {pool.name: pool for pool in cluster.pools}
    moving = [fault for fault in cluster.faults if fault.stages]
    for fault in moving:
        pool = pools[fault.pool]
        name = f"fault-{fault.name}"
        begun = _is(_active(fault))
        yield f"{name}-begin", _stage(cluster, [_is(due(fault)), _not(_active(fault))], _begin(fault, pool), fault)
        if wrong := _wrong(fault, pool):
            yield f"{name}-hold", _stage(cluster, [_is(due(fault)), begun, _is(wrong)], _begin(fault, pool))
        yield f"{name}-end", _stage(cluster, [_not(due(fault)), begun], _end(fault, pool))
    if times := [_times(fault) for fault in moving if pools[fault.pool].lifecycle.needs_lease]:
        yield "clock", _clock(cluster, times)


def due(fault: Fault) -> str:
    """In jq, whether the fault should be there now."""
    here = f".metadata.labels[{dumps(label(fault))}]"
    if fault.start.sort == "manual":
        since = f".metadata.annotations[{dumps(label(fault) + '-since')}]"
        over = f" and (({since} // empty | tonumber) // now) + {fault.seconds} > now" if fault.seconds else ""
        return f'{here} == "on"{over}'
    begin, end = _bounds(fault)
    return f'{here} == "{ARMED}" and now >= {begin}' + (f" and now < {end}" if end else "")


def _bounds(fault: Fault) -> tuple[str, str | None]:
    """In jq, the moments of its begin and of its end in seconds."""
    zero = "" if fault.start.sort == "at" else "(.metadata.creationTimestamp | fromdateiso8601) + "
    end = None if fault.seconds is None else f"{zero}{fault.start.seconds + fault.seconds}"
    return f"{zero}{fault.start.seconds}", end


def _times(fault: Fault) -> str:
    """In jq, the moments at which something is to be done on the node."""
    here = f".metadata.labels[{dumps(label(fault))}]"
    if fault.start.sort == "manual":
        since = f".metadata.annotations[{dumps(label(fault) + '-since')}]"
        times = f"({since} // empty | tonumber) + {fault.seconds}" if fault.seconds else "empty"
        return f'if {here} == "on" then {times} else empty end'
    times = ", ".join(part for part in _bounds(fault) if part)
    return f'if {here} == "{ARMED}" then ({times}) else empty end'


def _active(fault: Fault) -> str:
    return f'.metadata.annotations[{dumps(label(fault))}] == "active"'


def _is(expression: str) -> dict[str, Any]:
    return {"key": expression, "operator": "In", "values": ["true"]}


def _not(expression: str) -> dict[str, Any]:
    return {"key": expression, "operator": "In", "values": ["false"]}


def _stage(
    cluster: Cluster, expressions: list[dict[str, Any]], patches: list[dict[str, str]], fault: Fault | None = None
) -> dict[str, Any]:
    event = {"event": fault.event._asdict()} if fault and fault.event else {}
    return {
        "resourceRef": {"apiGroup": "v1", "kind": "Node"},
        "selector": {
            "matchLabels": {INSTANCE: cluster.name},
            # Without a phase the node is not made Ready yet.
            "matchExpressions": [{"key": ".status.phase", "operator": "In", "values": ["Running"]}, *expressions],
        },
        "weight": AT_ONCE,
        "next": {"statusSubresource": "status", **event, "patches": patches},
    }


def _wrong(fault: Fault, pool: Pool) -> str:
    """In jq, whether something of an active fault is not there, since somebody healed it."""
    parts = [
        f"([.status.conditions[]? | select(.type == {dumps(each.type)} and .status == {dumps(each.fault)})] | length) == 0"
        for each in fault.conditions
    ]
    if fault.taint:
        key, effect = dumps(fault.taint.key), dumps(fault.taint.effect)
        parts.append(f"([.spec.taints[]? | select(.key == {key} and .effect == {effect})] | length) == 0")
    if fault.cordon:
        parts.append("(.spec.unschedulable | not)")
    parts += [f".metadata.labels[{dumps(key)}] != {dumps(wanted)}" for key, wanted in fault.labels.items()]
    if fault.allocatable:
        parts.append(f".status.allocatable[{dumps(pool.resource)}] != {dumps(fewer(pool, fault.allocatable))}")
    return " or ".join(parts)


def fewer(pool: Pool, number: int) -> str:
    """What is left of the pool's resource."""
    return str(max(0, int(pool.machine.allocatable[pool.resource or ""]) - number))


def apart(cluster: Cluster, pool: Pool) -> Iterator[dict[str, Any]]:
    """What keeps the pool's capacity from being restored on nodes of which a fault has taken some."""
    for fault in cluster.faults:
        if fault.pool == pool.name and fault.allocatable:
            part, found = ("annotations", "active") if fault.stages else ("labels", BORN)
            yield {"key": f".metadata.{part}[{dumps(label(fault))}]", "operator": "NotIn", "values": [found]}


def _begin(fault: Fault, pool: Pool) -> list[dict[str, str]]:
    """First what says that it has begun, all at once: the event of the next patch finds it begun."""
    lines = [added(f"/metadata/annotations/{escaped(label(fault))}", "active")]
    if fault.start.sort == "manual" and fault.seconds:
        path = f"/metadata/annotations/{escaped(label(fault) + '-since')}"
        lines.append(f"- {{op: add, path: {path}, value: {{{{ now | unixEpoch | Quote }}}}}}")
    if fault.taint:
        lines += without(fault.taint)
    if fault.cordon:
        lines.append("- {op: add, path: /spec/unschedulable, value: true}")
    lines += [added(f"/metadata/labels/{escaped(key)}", wanted) for key, wanted in fault.labels.items()]
    allocatable = fewer(pool, fault.allocatable) if fault.allocatable else None
    return [_object(lines), *_status(fault, pool, allocatable, faulty=True)]


def _end(fault: Fault, pool: Pool) -> list[dict[str, str]]:
    lines = [added(f"/metadata/annotations/{escaped(label(fault))}", "over")]
    if fault.start.sort == "manual" and fault.seconds:
        lines.append(added(f"/metadata/labels/{escaped(label(fault))}", "off"))
        since = label(fault) + "-since"
        path = f"/metadata/annotations/{escaped(since)}"
        lines += [
            f'{{{{ if hasKey .metadata.annotations "{since}" }}}}',
            f"- {{op: remove, path: {path}}}",
            "{{ end }}",
        ]
    if fault.taint:
        lines += removed(fault.taint)
    if fault.cordon:
        lines += ["{{ if .spec.unschedulable }}", "- {op: remove, path: /spec/unschedulable}", "{{ end }}"]
    for key in fault.labels:
        path = f"/metadata/labels/{escaped(key)}"
        lines += [f'{{{{ if hasKey .metadata.labels "{key}" }}}}', f"- {{op: remove, path: {path}}}", "{{ end }}"]
    allocatable = pool.machine.allocatable[pool.resource] if fault.allocatable and pool.resource else None
    return [_object(lines), *_status(fault, pool, allocatable, faulty=False)]


def _object(lines: list[str]) -> dict[str, str]:
    """A patch of labels, annotations and spec together, which no other part of the Stage can come between."""
    return {"root": "", "type": "json", "template": "\n".join(lines) + "\n"}


def _status(fault: Fault, pool: Pool, allocatable: str | None, *, faulty: bool) -> Iterator[dict[str, str]]:
    lines = ["conditions:", *(_line(each, faulty=faulty) for each in fault.conditions)] if fault.conditions else []
    if allocatable is not None:
        lines.append(f"allocatable: {{{dumps(pool.resource)}: {dumps(allocatable)}}}")
    if lines:
        template = "\n".join(["{{ $now := Now }}", *lines]) + "\n"
        yield {"root": "status", "subresource": "status", "type": "strategic", "template": template}


def _line(condition: Condition, *, faulty: bool) -> str:
    words = condition.faulty if faulty else condition.healthy
    status = condition.fault if faulty else condition.well
    said = f"reason: {text(words.reason)}, message: {text(words.message)}"
    times = "lastHeartbeatTime: {{ $now | Quote }}, lastTransitionTime: {{ $now | Quote }}"
    return f"- {{type: {dumps(condition.type)}, status: {dumps(status)}, {said}, {times}}}"


def _clock(cluster: Cluster, times: list[str]) -> dict[str, Any]:
    """Touches a node when something is due on it: KWOK looks at a node only when it has changed.

    Nodes without leases have heartbeats, which do as well and must not wait.
    """
    coming = f"[{', '.join(times)}] | map(select(. > now))"
    pools = [pool.name for pool in cluster.pools if pool.lifecycle.needs_lease]
    return {
        "resourceRef": {"apiGroup": "v1", "kind": "Node"},
        "selector": {
            "matchLabels": {INSTANCE: cluster.name},
            "matchExpressions": [
                {"key": ".status.phase", "operator": "In", "values": ["Running"]},
                {"key": f'.metadata.labels["{POOL}"]', "operator": "In", "values": pools},
                _is(f"({coming} | length) > 0"),
            ],
        },
        "weight": WAITING,
        "delay": {
            # Of a moment that has just passed there is no expression left.
            "durationMilliseconds": 1000,
            "durationFrom": {"expressionFrom": f"{coming} | min | todateiso8601"},
        },
        "next": {
            "statusSubresource": "status",
            "patches": [
                {"root": "metadata", "type": "merge", "template": f"annotations: {{{CLOCK}: {{{{ Now | Quote }}}}}}\n"}
            ],
        },
    }
