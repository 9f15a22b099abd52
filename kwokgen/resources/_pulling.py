"""Stages of pods whose image cannot be pulled: that of the container that would begin first, before all of its lifecycle.

Such a pod stays Pending; once the image is there, its lifecycle finds it with all of its containers still to begin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwokgen.model.failure import Unpulled
from kwokgen.resources._patches import text
from kwokgen.resources._podstages import deadline, filled
from kwokgen.resources._selectors import absent, among

FIRST = 10
"""Seconds until the kubelet tries again, https://kubernetes.io/docs/concepts/containers/images/#imagepullbackoff."""
PENDING = among(".status.phase", "Pending")
NEW = absent(".status.containerStatuses[]?.name")
SINCE = ".status.startTime"
STAYS = "phase: Pending\n"
"""Changes nothing, and is drawn before the lifecycle's Stages."""
_WAITING = """\
- name: {{ $container.name | Quote }}
  image: {{ $container.image | Quote }}
  imageID: ""
  ready: false
  restartCount: 0
  started: false
"""
TEMPLATE = f"""\
{{{{ $now := Now }}}}
{{{{ $host := NodeIPWith .spec.nodeName }}}}
conditions:
- {{type: Initialized, status: {{{{ if .spec.initContainers }}}}"False"{{{{ else }}}}"True"{{{{ end }}}}, lastTransitionTime: {{{{ $now | Quote }}}}}}
- {{type: Ready, status: "False", reason: ContainersNotReady, lastTransitionTime: {{{{ $now | Quote }}}}}}
- {{type: ContainersReady, status: "False", reason: ContainersNotReady, lastTransitionTime: {{{{ $now | Quote }}}}}}
{{{{ if .spec.initContainers }}}}
initContainerStatuses:
{{{{ range $index, $container := .spec.initContainers }}}}
{_WAITING}\
  {{{{ if $index }}}}
  state: {{waiting: {{reason: PodInitializing}}}}
  {{{{ else }}}}
  state: {{waiting: {{@init@}}}}
  {{{{ end }}}}
{{{{ end }}}}
{{{{ end }}}}
containerStatuses:
{{{{ range $index, $container := .spec.containers }}}}
{_WAITING}\
  {{{{ if $.spec.initContainers }}}}
  state: {{waiting: {{reason: PodInitializing}}}}
  {{{{ else if $index }}}}
  state: {{waiting: {{reason: ContainerCreating}}}}
  {{{{ else }}}}
  state: {{waiting: {{@main@}}}}
  {{{{ end }}}}
{{{{ end }}}}
hostIP: {{{{ $host | Quote }}}}
hostIPs: [{{ip: {{{{ $host | Quote }}}}}}]
startTime: {{{{ or .status.startTime $now | Quote }}}}
"""
BACKOFF = 'reason: ImagePullBackOff, message: {{ printf "Back-off pulling image %q" $container.image | Quote }}'
CREATING = {"init": "reason: PodInitializing", "main": "reason: ContainerCreating"}


def stages(unpulled: Unpulled) -> Iterator[tuple[str, list[Any], str, dict[str, Any] | None]]:
    """By a word for its name: what must hold, the template, and the delay."""
    failed = _error(unpulled)
    yield "", [PENDING, NEW], filled(TEMPLATE, {"init": failed, "main": failed}), None
    last = "ErrImagePull"
    if unpulled.seconds is None or unpulled.seconds > FIRST:
        last, backoff = "ImagePullBackOff", filled(TEMPLATE, {"init": BACKOFF, "main": BACKOFF})
        yield "backoff", [PENDING, _waits("ErrImagePull")], backoff, deadline(FIRST, f"{FIRST}", SINCE)
    if unpulled.seconds is None:
        yield "stays", [PENDING, _waits(last)], STAYS, None
    else:
        length = deadline(unpulled.seconds, f"{unpulled.seconds}", SINCE)
        yield "over", [PENDING, _waits(last)], filled(TEMPLATE, CREATING), length


def _waits(reason: str) -> dict[str, Any]:
    return among(".status | (.initContainerStatuses // .containerStatuses)[0].state.waiting.reason", reason)


def _error(unpulled: Unpulled) -> str:
    said = '{{ printf "failed to pull image %q" $container.image | Quote }}'
    return f"reason: ErrImagePull, message: {text(unpulled.message) if unpulled.message else said}"
