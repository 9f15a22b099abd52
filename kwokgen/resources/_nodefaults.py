"""What faults do to nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from json import dumps
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.fault import Condition, Fault, Step
from kwokgen.model.labels import INSTANCE, POOL, of_node
from kwokgen.model.pool import Pool
from kwokgen.resources import _faults
from kwokgen.resources._common import taint
from kwokgen.resources._faults import Part, Played
from kwokgen.resources._patches import added, escaped, present, tainted, text, untainted
from kwokgen.resources._selectors import among, lacks

NODES = {"apiGroup": "v1", "kind": "Node"}
MADE_READY = among(".status.phase", "Running")
DOWN = "KwokgenFault"
"""The condition of a node that a fault keeps from being Ready."""
SETTLED = among(f'.status.conditions[]? | select(.type == "Ready" or .type == "{DOWN}") | .status', "True")
"""A node after an outage is made Ready first: that Stage, of weight 0, would never be drawn beside the clock."""


def stages(cluster: Cluster) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and specs of the Stages of nodes' faults, and of their clocks."""
    played = Played(NODES, {INSTANCE: cluster.name}, (MADE_READY,))
    moving = [(fault, pool) for pool in cluster.pools for fault in cluster.faults_of(pool) if fault.stages]
    for fault, pool in moving:
        for word, spec in _faults.stages(fault, played, list(_parts(fault, pool))):
            yield f"fault-{fault.name}-{word}", spec
    yield from _clocks(moving, played)


def _clocks(moving: list[tuple[Fault, Pool]], played: Played) -> Iterator[tuple[str, dict[str, Any]]]:
    """Nodes without leases have heartbeats, which do as well as a clock and must not wait for it, but not while down."""
    leased = [(fault, pool) for fault, pool in moving if pool.lifecycle.needs_lease]
    beaten = [(fault, pool) for fault, pool in moving if not pool.lifecycle.needs_lease and _takes_down(fault)]
    down = among(f'.status.conditions[]? | select(.type == "{DOWN}") | .status', "True")
    for name, found, state in (("clock", leased, SETTLED), ("clock-down", beaten, down)):
        here = among(f'.metadata.labels["{POOL}"]', *sorted({pool.name for _, pool in found}))
        if clock := _faults.clock((fault for fault, _ in found), played._replace(ready=(MADE_READY, state, here))):
            yield name, clock


def _takes_down(fault: Fault) -> bool:
    return any(condition.type == DOWN for step in fault.steps for condition in step.conditions)


def _parts(fault: Fault, pool: Pool) -> Iterator[Part]:
    for before, step in zip((None, *fault.steps), fault.steps, strict=False):
        past = before.beside(step) if before else None
        yield Part(
            wrong=" or ".join(_wrong(step, pool)),
            begin=[*(_end(past, pool) if past else ()), *_begin(step)],
            end=list(_end(step, pool)),
            begun_status=_status(pool, past, step),
            ended_status=_status(pool, step, None),
            event=step.event,
            gone=step.gone,
        )


def _wrong(step: Step, pool: Pool) -> Iterator[str]:
    for each in step.conditions:
        same = f".type == {dumps(each.type)} and .status == {dumps(each.fault)}"
        yield f"([.status.conditions[]? | select({same})] | length) == 0"
    if step.taint:
        yield f"([.spec.taints[]? | select({present(step.taint)})] | length) == 0"
    if step.cordon:
        yield "(.spec.unschedulable | not)"
    for key, wanted in step.labels.items():
        yield f".metadata.labels[{dumps(key)}] != {dumps(wanted)}"
    if step.allocatable:
        yield f".status.allocatable[{dumps(pool.resource)}] != {dumps(fewer(pool, step.allocatable))}"


def fewer(pool: Pool, number: int) -> str:
    """What is left of the pool's resource."""
    return str(max(0, int(pool.machine.allocatable[pool.resource or ""]) - number))


def apart(faults: Iterable[Fault]) -> Iterator[dict[str, Any]]:
    """What keeps a pool's capacity from being restored on nodes of which a fault has taken some."""
    for fault in faults:
        if any(step.allocatable for step in fault.steps):
            part, found = ("annotations", "active") if fault.stages else ("labels", _faults.BORN)
            yield lacks(f".metadata.{part}[{dumps(fault.label)}]", found)


def _begin(step: Step) -> Iterator[str]:
    if step.taint:
        yield from tainted(step.taint, ".spec.taints", "/spec/taints", dumps(taint(step.taint)))
    if step.cordon:
        yield "- {op: add, path: /spec/unschedulable, value: true}"
    for key, wanted in step.labels.items():
        yield added(f"/metadata/labels/{escaped(key)}", wanted)


def _end(step: Step, pool: Pool) -> Iterator[str]:
    if step.taint:
        yield from untainted(step.taint, ".spec.taints", "/spec/taints")
    if step.cordon:
        yield from ("{{ if .spec.unschedulable }}", "- {op: remove, path: /spec/unschedulable}", "{{ end }}")
    own = of_node(pool, None, None)
    for key in step.labels:
        if own.get(key):
            yield added(f"/metadata/labels/{escaped(key)}", own[key])
            continue
        yield f'{{{{ if hasKey .metadata.labels "{key}" }}}}'
        yield f"- {{op: remove, path: /metadata/labels/{escaped(key)}}}"
        yield "{{ end }}"


def _status(pool: Pool, past: Step | None, step: Step | None) -> str | None:
    """The patch of a status that ends one step, begins another, or both; None where neither is seen in it."""
    well = [_line(each, faulty=False) for each in past.conditions] if past else []
    ill = [_line(each, faulty=True) for each in step.conditions] if step else []
    lines = ["conditions:", *well, *ill] if well or ill else []
    if step and step.allocatable:
        lines.append(_allocatable(pool, fewer(pool, step.allocatable)))
    elif past and past.allocatable:
        lines.append(_allocatable(pool, pool.machine.allocatable[pool.resource or ""]))
    return "\n".join(["{{ $now := Now }}", *lines]) + "\n" if lines else None


def _allocatable(pool: Pool, number: str) -> str:
    return f"allocatable: {{{dumps(pool.resource)}: {dumps(number)}}}"


def _line(condition: Condition, *, faulty: bool) -> str:
    words = condition.faulty if faulty else condition.healthy
    status = condition.fault if faulty else condition.well
    said = f"reason: {text(words.reason)}, message: {text(words.message)}"
    times = "lastHeartbeatTime: {{ $now | Quote }}, lastTransitionTime: {{ $now | Quote }}"
    return f"- {{type: {dumps(condition.type)}, status: {dumps(status)}, {said}, {times}}}"


def conditions(pool: Pool, born: Iterable[Fault]) -> list[dict[str, str]]:
    """What the detectors of a node say at its birth, healthy but for the faults that it is born with."""
    healthy = {each.type: (each.well, each.healthy) for found in pool.detectors.values() for each in found}
    faulty = {each.type: (each.fault, each.faulty) for fault in born for each in fault.steps[0].conditions}
    return [
        {"type": type_, "status": status, "reason": words.reason, "message": words.message}
        for type_, (status, words) in (healthy | faulty).items()
    ]
