"""Rules of the single fields of pods and their containers that the API server has and the JSON Schemas have not.

https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/core/validation/validation.go, ValidatePodSpec; what is
empty: https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/core/v1/defaults.go, SetDefaults_PodSpec.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kwokgen import fieldrules, metarules
from kwokgen.fieldrules import EACH, Formed, Number, Rule, Words
from kwokgen.formats import FORMATS
from kwokgen.jobrules import Finding, at
from kwokgen.objectformats import ADDRESS, NAME, QUALIFIED, VARIABLE

SPREAD = ("topologySpreadConstraints", EACH)
POD: tuple[Rule, ...] = (
    Words(("dnsPolicy",), ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"), optional=True),
    Words(("os", "name"), ("linux", "windows")),
    Words(("preemptionPolicy",), ("Never", "PreemptLowerPriority")),
    Words(("securityContext", "fsGroupChangePolicy"), ("Always", "OnRootMismatch")),
    Words(("tolerations", EACH, "effect"), ("NoExecute", "NoSchedule", "PreferNoSchedule"), optional=True),
    Words(("tolerations", EACH, "operator"), ("Equal", "Exists"), optional=True),
    Words((*SPREAD, "nodeAffinityPolicy"), ("Honor", "Ignore")),
    Words((*SPREAD, "nodeTaintsPolicy"), ("Honor", "Ignore")),
    Words((*SPREAD, "whenUnsatisfiable"), ("DoNotSchedule", "ScheduleAnyway")),
    Words(
        ("volumes", EACH, "hostPath", "type"),
        ("BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"),
        optional=True,
    ),
    Formed(("dnsConfig", "nameservers", EACH), ADDRESS),
    Formed(("hostAliases", EACH, "hostnames", EACH), NAME),
    Formed(("hostAliases", EACH, "ip"), ADDRESS),
    Formed(("hostname",), FORMATS["dns-label"], optional=True),
    Formed(("nodeName",), NAME, optional=True),
    Formed(("priorityClassName",), NAME, optional=True),
    Formed(("readinessGates", EACH, "conditionType"), QUALIFIED),
    Formed(("runtimeClassName",), NAME),
    Formed(("schedulingGates", EACH, "name"), QUALIFIED),
    Formed(("serviceAccountName",), NAME, optional=True),
    Formed(("subdomain",), FORMATS["dns-label"], optional=True),
    Formed(("tolerations", EACH, "key"), FORMATS["label-key"], optional=True),
    Number(("securityContext", "fsGroup")),
    Number(("securityContext", "runAsGroup")),
    Number(("securityContext", "runAsUser")),
    Number(("securityContext", "supplementalGroups", EACH)),
    Number((*SPREAD, "maxSkew"), least=1),
    Number((*SPREAD, "minDomains"), least=1),
)
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
HOOKS = ("postStart", "preStop")
PROBE_NUMBERS = ("failureThreshold", "initialDelaySeconds", "periodSeconds", "timeoutSeconds")
CONTAINER: tuple[Rule, ...] = (
    Words(("imagePullPolicy",), ("Always", "IfNotPresent", "Never"), optional=True),
    Words(("terminationMessagePolicy",), ("FallbackToLogsOnError", "File"), optional=True),
    Formed(("env", EACH, "name"), VARIABLE),
    Number(("securityContext", "runAsGroup")),
    Number(("securityContext", "runAsUser")),
    *(Number((probe, key)) for probe in PROBES for key in PROBE_NUMBERS),
    Number(("livenessProbe", "successThreshold"), most=1),
    Number(("readinessProbe", "successThreshold")),
    Number(("startupProbe", "successThreshold"), most=1),
)
INIT_CONTAINER: tuple[Rule, ...] = (Words(("restartPolicy",), ("Always", "Never", "OnFailure")),)
PROBE_ACTIONS = ("exec", "grpc", "httpGet", "tcpSocket")
HOOK_ACTIONS = ("exec", "httpGet", "sleep", "tcpSocket")
SERVERS = 3


def findings(pod: Mapping[str, Any]) -> Iterator[Finding]:
    """What is wrong with the words, names and numbers of a PodSpec that are of no container."""
    yield from fieldrules.findings(pod, POD)
    yield from at(("nodeSelector",), metarules.label_findings(pod.get("nodeSelector", {})))
    yield from _servers(pod)
    gates = [gate["name"] for gate in pod.get("schedulingGates", ())]
    for index, name in enumerate(gates):
        if name in gates[:index]:
            yield Finding(("schedulingGates", index, "name"), f'two gates are named "{name}"', "leave one out")


def container_findings(container: Mapping[str, Any], *, init: bool) -> Iterator[Finding]:
    """What is wrong with those of a container, and with its probes and hooks; init containers have rules of their own."""
    yield from fieldrules.findings(container, CONTAINER)
    if init:
        yield from fieldrules.findings(container, INIT_CONTAINER)
        if container.get("restartPolicy") != "Always":
            yield from _unheard(container)
            return
    for probe in PROBES:
        if probe in container:
            yield from at((probe,), _action(container[probe], PROBE_ACTIONS))
    for hook in HOOKS:
        if hook in container.get("lifecycle", {}):
            yield from at(("lifecycle", hook), _action(container["lifecycle"][hook], HOOK_ACTIONS))


def _servers(pod: Mapping[str, Any]) -> Iterator[Finding]:
    servers = pod.get("dnsConfig", {}).get("nameservers", ())
    if len(servers) > SERVERS:
        yield Finding(("dnsConfig", "nameservers"), f"{len(servers)} servers, a pod may name {SERVERS}")
    if pod.get("dnsPolicy") == "None" and not servers:
        hint = "write dnsConfig: {nameservers: [10.0.0.10]} as well"
        yield Finding(("dnsPolicy",), "a pod of this policy names its servers itself", hint)


def _unheard(container: Mapping[str, Any]) -> Iterator[Finding]:
    for key in ("lifecycle", *PROBES):
        if key in container:
            message = "only an init container with restartPolicy: Always has it"
            yield Finding((key,), message, "leave it out, or write restartPolicy: Always")


def _action(handler: Mapping[str, Any], actions: tuple[str, ...]) -> Iterator[Finding]:
    given = [action for action in actions if action in handler]
    if len(given) != 1:
        message = f"it does {' and '.join(given)}, and may do one" if given else "it does nothing"
        yield Finding((), message, f"write one of {', '.join(actions)}")
