"""What faults do to pods of their nodes: a pod cannot see its node, so that it is told by a label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.cluster import Cluster
from kwokgen.model.fault import Exit, Fault
from kwokgen.resources._patches import added, escaped
from kwokgen.resources._podstages import ended, filled
from kwokgen.resources._selectors import ABOVE_ALL, absent, among

EXITED = "exited"
_TEMPLATE = """\
{{ $now := Now }}
{{ $start := or .status.startTime $now }}
{{ $ends := eq (or .spec.restartPolicy "Always") "Never" }}
{{ if $ends }}
conditions:
- {type: Ready, status: "False", reason: PodFailed, lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "False", reason: PodFailed, lastTransitionTime: {{ $now | Quote }}}
phase: Failed
{{ end }}
{{ if .status.containerStatuses }}
containerStatuses:
{{ range .status.containerStatuses }}
{{ $since := $start }}
{{ if .state.running }}{{ $since = .state.running.startedAt }}{{ end }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: {{ not $ends }}
  started: {{ not $ends }}
  {{ if $ends }}
  restartCount: {{ int .restartCount }}
  state: {running: null, terminated: {@ended@, startedAt: {{ $since | Quote }}, finishedAt: {{ $now | Quote }}}}
  {{ else }}
  restartCount: {{ add1 (int .restartCount) }}
  lastState: {terminated: {@ended@, startedAt: {{ $since | Quote }}, finishedAt: {{ $now | Quote }}}}
  state: {running: {startedAt: {{ $now | Quote }}}}
  {{ end }}
{{ end }}
{{ end }}
"""
"""A pod that is not to be restarted has failed; the kubelet starts the containers of all others anew, the first time at
once: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy."""

_RUNS = among(".status.containerStatuses // [{state: {running: {}}}] | any(.state.running)", "true")
"""A lifecycle of one's own may say nothing of the containers of a pod that runs."""


def stages(cluster: Cluster) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and specs of the Stages of pods that end with their GPUs."""
    for fault in cluster.faults:
        if fault.exit:
            yield f"fault-{fault.name}-exit", _stage(fault, fault.exit)


def _stage(fault: Fault, end: Exit) -> dict[str, Any]:
    template = filled(_TEMPLATE, {"ended": ended(end.exit_code, end.reason, end.message)})
    # The label first: the event of a second patch would find the pod to be ended once more.
    seen = added(f"/metadata/labels/{escaped(fault.label)}", EXITED)
    patches = [
        {"root": "", "type": "json", "template": f"{seen}\n"},
        {
            "root": "status",
            "subresource": "status",
            "type": "strategic",
            "template": template,
        },
    ]
    return {
        "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
        "selector": {
            "matchLabels": {fault.label: "on"},
            "matchExpressions": [absent(".metadata.deletionTimestamp"), among(".status.phase", "Running"), _RUNS],
        },
        "weight": ABOVE_ALL,
        "next": {"statusSubresource": "status", "patches": patches},
    }
