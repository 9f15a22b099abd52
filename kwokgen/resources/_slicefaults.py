"""What faults do to GPUs that are DRA devices: KWOK plays their slices as it plays nodes."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.fault import Fault, Step
from kwokgen.model.labels import INSTANCE, POOL, SHARD
from kwokgen.model.pool import Pool
from kwokgen.model.taint import Taint
from kwokgen.resources import _faults
from kwokgen.resources._common import taint as written
from kwokgen.resources._faults import Part, Played
from kwokgen.resources._patches import escaped, present, tainted, untainted, without
from kwokgen.resources._selectors import among


def stages(cluster: Cluster, shard: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and specs of the Stages of slices, for one controller: every one of them would play all slices."""
    for pool in cluster.pools:
        moving = [_of_devices(fault) for fault in cluster.faults_of(pool) if later(fault)]
        if pool.gpus is None or not moving:
            continue
        played = _played(cluster, pool, pool.gpus.devices.driver, shard)
        for fault in moving:
            for word, spec in _faults.stages(fault, played, list(_parts(cluster, fault))):
                yield f"fault-{fault.name}-gpus-{word}", spec
        if clock := _faults.clock(moving, played):
            yield f"clock-gpus-{pool.name}", clock


def later(fault: Fault) -> bool:
    """Whether a fault changes devices while the cluster runs."""
    return fault.stages and fault.of_slices


def _of_devices(fault: Fault) -> Fault:
    """The fault up to its last step that changes devices."""
    last = max(number for number, step in enumerate(fault.steps) if step.of_slices)
    return fault._replace(steps=fault.steps[: last + 1])


def _played(cluster: Cluster, pool: Pool, driver: str, shard: int) -> Played:
    ready = [among(".spec.driver", driver)]
    if cluster.controller.shards > 1:
        ready.append(among(f'.metadata.labels["{SHARD}"]', *cluster.controller.shard_values(shard)))
    reference = {"apiGroup": f"resource.k8s.io/{cluster.kubernetes.resource_api}", "kind": "ResourceSlice"}
    return Played(reference, {INSTANCE: cluster.name, POOL: pool.name}, tuple(ready))


def _parts(cluster: Cluster, fault: Fault) -> Iterator[Part]:
    for before, step in zip((None, *fault.steps), fault.steps, strict=False):
        past = before.beside(step) if before else None
        begin = list(_end(cluster, fault, past) if past and not step.device_gone else ())
        begin += _gone(cluster, fault, past) if step.device_gone else _begin(cluster, fault, step.device_taint)
        yield Part(_wrong(cluster, fault, step), begin, list(_end(cluster, fault, step)))


def _wrong(cluster: Cluster, fault: Fault, step: Step) -> str:
    taint, names = step.device_taint, ", ".join(map(dumps, fault.devices))
    if step.device_gone:
        return f"([.spec.devices[]? | select(.name | IN({names}))] | length) > 0"
    if taint is None:
        return ""
    inside = " | .basic" if _inside(cluster) else ""
    own = f"[.spec.devices[]? | select(.name | IN({names})){inside}"
    return f"({own} | select([.taints[]? | select({present(taint)})] | length == 0)] | length) > 0"


def _inside(cluster: Cluster, step: str = ".") -> str:
    """Where a device's taints stand: the first version of the API has them a level below."""
    return f"{step}basic" if cluster.kubernetes.resource_api == "v1beta1" else ""


def _each(cluster: Cluster, fault: Fault) -> Iterator[str]:
    yield "{{ range $number, $device := .spec.devices }}"
    yield f"{{{{ if has $device.name (list {' '.join(map(dumps, fault.devices))}) }}}}"
    yield f"{{{{ $body := $device{_inside(cluster)} }}}}"


def _begin(cluster: Cluster, fault: Fault, taint: Taint | None) -> Iterator[str]:
    if taint is None:
        return
    now = '{{ now | date "2006-01-02T15:04:05Z07:00" | Quote }}'
    value = dumps(written(taint)).removesuffix("}") + f', "timeAdded": {now}}}'
    yield from _each(cluster, fault)
    yield from tainted(taint, "$body.taints", _taints(cluster), value)
    yield from ("{{ end }}", "{{ end }}")


def _end(cluster: Cluster, fault: Fault, step: Step) -> Iterator[str]:
    if step.device_gone:
        yield from _back(fault)
    if step.device_taint:
        yield from _each(cluster, fault)
        yield from untainted(step.device_taint, "$body.taints", _taints(cluster))
        yield from ("{{ end }}", "{{ end }}")


def _gone(cluster: Cluster, fault: Fault, past: Step | None) -> Iterator[str]:
    """The slice keeps what it loses, without the taint of the step before, so that it comes back as it was."""
    yield "{{ $lost := list }}"
    yield from _each(cluster, fault)
    # Those before it are no longer there.
    yield '{{ $path := printf "/spec/devices/%d" (sub $number (len $lost)) }}'
    yield "- {op: test, path: {{ $path }}/name, value: {{ $device.name | Quote }}}"
    yield "- {op: remove, path: {{ $path }}}"
    if past and past.device_taint:
        yield from without(past.device_taint, "$body")
    yield "{{ $lost = append $lost $device }}"
    yield from ("{{ end }}", "{{ end }}")
    yield "{{ if $lost }}"
    yield f"- {{op: add, path: /metadata/annotations/{escaped(_kept(fault))}, value: {{{{ toJson $lost | Quote }}}}}}"
    yield "{{ end }}"


def _back(fault: Fault) -> Iterator[str]:
    """Unless an apply has brought them back before."""
    yield f'{{{{ if hasKey .metadata.annotations "{_kept(fault)}" }}}}'
    yield "{{ if not .spec.devices }}"
    yield "- {op: add, path: /spec/devices, value: []}"
    yield "{{ end }}"
    yield "{{ $there := list }}"
    yield "{{ range .spec.devices }}{{ $there = append $there .name }}{{ end }}"
    yield f'{{{{ range fromJson (index .metadata.annotations "{_kept(fault)}") }}}}'
    yield "{{ if not (has .name $there) }}"
    yield "- {op: add, path: /spec/devices/-, value: {{ toJson . }}}"
    yield from ("{{ end }}", "{{ end }}")
    yield f"- {{op: remove, path: /metadata/annotations/{escaped(_kept(fault))}}}"
    yield "{{ end }}"


def _kept(fault: Fault) -> str:
    """The annotation of a slice that says what it has lost."""
    return f"{fault.label}.devices"


def _taints(cluster: Cluster) -> str:
    return f"/spec/devices/{{{{ $number }}}}{_inside(cluster, '/')}/taints"
