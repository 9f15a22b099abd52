"""Templates of what a pod says when it fails; `@container@` and what it has `@ended@` with are put in.

Lists of a pod's status are replaced whole, so that each template writes every container.
"""

from __future__ import annotations

START = """\
{{ $now := Now }}
{{ $host := NodeIPWith .spec.nodeName }}
{{ $ip := PodIPWith .spec.nodeName (or .spec.hostNetwork false) (or .metadata.uid "") (or .metadata.name "") (or .metadata.namespace "") }}
{{ $reached := false }}
conditions:
- {type: Initialized, status: "False", reason: ContainersNotInitialized, lastTransitionTime: {{ $now | Quote }}}
- {type: Ready, status: "False", reason: ContainersNotReady, lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "False", reason: ContainersNotReady, lastTransitionTime: {{ $now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: false
  restartCount: 0
  started: false
  state: {waiting: {reason: PodInitializing}}
{{ end }}
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  restartCount: 0
  {{ if eq .name "@container@" }}
  {{ $reached = true }}
  ready: false
  started: true
  state: {running: {startedAt: {{ $now | Quote }}}}
  {{ else if $reached }}
  ready: false
  started: false
  state: {waiting: {reason: PodInitializing}}
  {{ else if eq (or .restartPolicy "") "Always" }}
  ready: true
  started: true
  state: {running: {startedAt: {{ $now | Quote }}}}
  {{ else }}
  ready: true
  started: false
  state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}
  {{ end }}
{{ end }}
hostIP: {{ $host | Quote }}
hostIPs: [{ip: {{ $host | Quote }}}]
podIP: {{ $ip | Quote }}
podIPs: [{ip: {{ $ip | Quote }}}]
startTime: {{ $now | Quote }}
"""
_STARTED = """\
{{ $now := Now }}
{{ $start := or .status.startTime $now }}
{{ range .status.@statuses@ }}
{{ if and (eq .name "@container@") .state.running }}
{{ $start = .state.running.startedAt }}
{{ end }}
{{ end }}
"""
_NOT_READY = """\
conditions:
- {type: Ready, status: "False", reason: @reason@, lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "False", reason: @reason@, lastTransitionTime: {{ $now | Quote }}}
"""
_FAILED = _STARTED + _NOT_READY.replace("@reason@", "PodFailed")
INIT_FAILED = (
    _FAILED.replace("@statuses@", "initContainerStatuses")
    + """\
{{ $reached := false }}
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  restartCount: 0
  started: false
  {{ if eq .name "@container@" }}
  {{ $reached = true }}
  ready: false
  state: {running: null, terminated: {@ended@, startedAt: {{ $start | Quote }}, finishedAt: {{ $now | Quote }}}}
  {{ else if $reached }}
  ready: false
  state: {waiting: {reason: PodInitializing}}
  {{ else }}
  ready: true
  state: {running: null, terminated: {exitCode: 0, reason: Completed, startedAt: {{ $start | Quote }}, finishedAt: {{ $start | Quote }}}}
  {{ end }}
{{ end }}
phase: Failed
"""
)
FAILED = (
    _FAILED.replace("@statuses@", "containerStatuses")
    + """\
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: false
  restartCount: 0
  started: false
  {{ if eq .name "@container@" }}
  state: {running: null, terminated: {@ended@, startedAt: {{ $start | Quote }}, finishedAt: {{ $now | Quote }}}}
  {{ else }}
  state: {running: null, terminated: {exitCode: 0, reason: Completed, startedAt: {{ $start | Quote }}, finishedAt: {{ $now | Quote }}}}
  {{ end }}
{{ end }}
phase: Failed
"""
)
CRASHED = (
    _STARTED.replace("@statuses@", "containerStatuses")
    + _NOT_READY.replace("@reason@", "ContainersNotReady")
    + """\
containerStatuses:
{{ range .status.containerStatuses }}
{{ if eq .name "@container@" }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: false
  restartCount: {{ int .restartCount }}
  started: false
  lastState: {terminated: {@ended@, startedAt: {{ $start | Quote }}, finishedAt: {{ $now | Quote }}}}
  state: {running: null, waiting: {reason: CrashLoopBackOff, message: back-off restarting failed container}}
{{ else }}
- {{ toJson . }}
{{ end }}
{{ end }}
"""
)
RESTARTED = """\
{{ $now := Now }}
conditions:
- {type: Ready, status: "True", reason: "", lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "True", reason: "", lastTransitionTime: {{ $now | Quote }}}
containerStatuses:
{{ range .status.containerStatuses }}
{{ if eq .name "@container@" }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: true
  restartCount: {{ add1 (int .restartCount) }}
  started: true
  lastState: {{ toJson .lastState }}
  state: {waiting: null, running: {startedAt: {{ $now | Quote }}}}
{{ else }}
- {{ toJson . }}
{{ end }}
{{ end }}
"""
SUCCEEDED = (
    _STARTED.replace("@statuses@", "containerStatuses")
    + _NOT_READY.replace("@reason@", "PodCompleted")
    + """\
containerStatuses:
{{ range .status.containerStatuses }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: false
  restartCount: {{ int .restartCount }}
  started: false
  {{ if .lastState }}
  lastState: {{ toJson .lastState }}
  {{ end }}
  state: {running: null, terminated: {exitCode: 0, reason: Completed, startedAt: {{ $start | Quote }}, finishedAt: {{ $now | Quote }}}}
{{ end }}
phase: Succeeded
"""
)
