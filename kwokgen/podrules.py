"""Rules of pods that the API server has and the JSON Schemas have not, wherever a pod template stands.

https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/core/validation/validation.go, ValidatePodSpec.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from kwokgen import metarules, podwords
from kwokgen.fieldrules import EACH, LONGEST, Path, below
from kwokgen.formats import FORMATS, PAGES, is_label, is_quantity, quantity
from kwokgen.jobrules import Finding, at
from kwokgen.problem import quoted
from kwokgen.series import Document

JOB_TEMPLATE = ("template", "spec", "template")
WHERE: Mapping[tuple[str, str], Sequence[tuple[str, ...]]] = {
    ("", "Pod"): ((),),
    ("apps", "DaemonSet"): (("spec", "template"),),
    ("apps", "Deployment"): (("spec", "template"),),
    ("apps", "ReplicaSet"): (("spec", "template"),),
    ("batch", "CronJob"): (("spec", "jobTemplate", "spec", "template"),),
    ("batch", "Job"): (("spec", "template"),),
    ("batch.volcano.sh", "Job"): (("spec", "tasks", EACH, "template"),),
    ("jobset.x-k8s.io", "JobSet"): (("spec", "replicatedJobs", EACH, *JOB_TEMPLATE),),
    ("kubeflow.org", "PyTorchJob"): (("spec", "pytorchReplicaSpecs", EACH, "template"),),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        ("spec", "leaderWorkerTemplate", "leaderTemplate"),
        ("spec", "leaderWorkerTemplate", "workerTemplate"),
    ),
    ("ray.io", "RayCluster"): (
        ("spec", "headGroupSpec", "template"),
        ("spec", "workerGroupSpecs", EACH, "template"),
    ),
    ("ray.io", "RayJob"): (
        ("spec", "rayClusterSpec", "headGroupSpec", "template"),
        ("spec", "rayClusterSpec", "workerGroupSpecs", EACH, "template"),
        ("spec", "submitterPodTemplate"),
    ),
    ("workload.codeflare.dev", "AppWrapper"): (("spec", "components", EACH, *JOB_TEMPLATE),),
}
"""Where the pod templates stand whose form the schema of a kind has proven, by group and kind."""
SECTIONS = ("initContainers", "containers")
PORTS = 65_535
PROTOCOLS = ("SCTP", "TCP", "UDP")


def findings(document: Document) -> Iterator[Finding]:
    """What is wrong with the pods of an object."""
    for path, template in templates(document):
        # The metadata of a Pod is that of the object.
        meta = template.get("metadata", {}) if path else {}
        yield from at((*path, "metadata"), metarules.findings(meta, domains=True))
        # Controllers of other groups add volumes to the pods that they make.
        closed = "." not in document["apiVersion"].rpartition("/")[0]
        yield from at((*path, "spec"), _pod(template.get("spec", {}), closed=closed))


def templates(document: Document) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The pod templates of an object, each with its path; a Pod is one itself."""
    group = document["apiVersion"].rpartition("/")[0]
    for steps in WHERE.get((group, document["kind"]), ()):
        yield from below(document, steps)


def _pod(pod: Mapping[str, Any], *, closed: bool) -> Iterator[Finding]:
    if not pod.get("containers"):
        yield Finding(("containers",), "a pod has one container at the least")
    longest = pod.get("activeDeadlineSeconds", 1)
    if not 1 <= longest <= LONGEST:
        yield Finding(("activeDeadlineSeconds",), f"{longest} is not between 1 and {LONGEST}", "leave it out for none")
    yield from podwords.findings(pod)
    yield from at(("overhead",), quantities(pod.get("overhead", {})))
    yield from at(("overhead",), _unasked(pod.get("overhead", {})))
    for section, index, container in _containers(pod):
        yield from at((section, index), _container(container))
        yield from at((section, index), podwords.container_findings(container, init=section == "initContainers"))
    yield from _container_names(pod)
    yield from _claims(pod)
    for key in ("volumes", "resourceClaims"):
        yield from at((key,), _names(pod.get(key, ())))
    if closed:
        yield from _unknown_volumes(pod)


def _containers(pod: Mapping[str, Any]) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    for section in SECTIONS:
        for index, container in enumerate(pod.get(section, ())):
            yield section, index, container


def _container_names(pod: Mapping[str, Any]) -> Iterator[Finding]:
    seen = set()
    for section, index, container in _containers(pod):
        name = container["name"]
        if not is_label(name):
            yield Finding((section, index, "name"), f'"{name}" is not {FORMATS["dns-label"].what}')
        if name in seen:
            yield _twice((section, index, "name"), f'two containers of the pod are named "{name}"')
        seen.add(name)


def _names(items: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    seen = set()
    for index, item in enumerate(items):
        if not is_label(item["name"]):
            form = FORMATS["dns-label"]
            yield Finding((index, "name"), f'"{item["name"]}" is not {form.what}: {form.allowed}')
        if item["name"] in seen:
            yield _twice((index, "name"), f'two are named "{item["name"]}"')
        seen.add(item["name"])


def _twice(path: Path, message: str) -> Finding:
    return Finding(path, message, "give each a name of its own")


def _claims(pod: Mapping[str, Any]) -> Iterator[Finding]:
    declared = {claim["name"] for claim in pod.get("resourceClaims", ())}
    for section, index, container in _containers(pod):
        names = {claim["name"] for claim in container.get("resources", {}).get("claims", ())}
        for name in sorted(names - declared):
            yield Finding((section, index, "resources", "claims"), f'the pod declares no claim "{name}"')


def _unknown_volumes(pod: Mapping[str, Any]) -> Iterator[Finding]:
    known = sorted({volume["name"] for volume in pod.get("volumes", ())})
    for section, index, container in _containers(pod):
        for number, mount in enumerate(container.get("volumeMounts", ())):
            if mount["name"] not in known:
                available = f"available: {quoted(known)}" if known else "it has none"
                message = f'the pod has no volume "{mount["name"]}". {available}'
                hint = f"write volumes: [{{name: {mount['name']}, emptyDir: {{}}}}] into the pod's spec as well"
                yield Finding((section, index, "volumeMounts", number, "name"), message, hint)


def _container(container: Mapping[str, Any]) -> Iterator[Finding]:
    if not container.get("image"):
        yield Finding((), f'the container "{container["name"]}" has no image')
    elif (image := container["image"]) != image.strip():
        # A template with such an image is taken, and no pod of it is.
        yield Finding(("image",), f'"{image}" begins or ends with a space', "write it without")
    resources = container.get("resources", {})
    for part in ("requests", "limits"):
        yield from at(("resources", part), quantities(resources.get(part, {})))
        yield from at(("resources", part), _unasked(resources.get(part, {})))
    yield from at(("resources", "requests"), _beyond(resources.get("requests", {}), resources.get("limits", {})))
    yield from at(("ports",), _ports(container.get("ports", ())))
    yield from at(("volumeMounts",), _mounts(container.get("volumeMounts", ())))


def quantities(amounts: Mapping[str, Any]) -> Iterator[Finding]:
    """What is wrong with the names and the numbers of resources."""
    for name, value in amounts.items():
        if not FORMATS["resource"].test(name):
            yield Finding((name,), f'"{name}" is not {FORMATS["resource"].what}: {FORMATS["resource"].allowed}')
        if not is_quantity(str(value)):
            yield Finding((name,), f'"{value}" is not {FORMATS["quantity"].what}: {FORMATS["quantity"].allowed}')


def _unasked(amounts: Mapping[str, Any]) -> Iterator[Finding]:
    for name, value in amounts.items():
        if name == "pods":
            yield Finding((name,), "pods is a resource of nodes, a container cannot ask for it", "leave it out")
        number = quantity(str(value))
        if _extended(name) and number is not None and number % 1:
            message = f'"{value}" is no whole number, and {name} is an extended resource'
            yield Finding((name,), message, f'write "{number.to_integral_value("ROUND_CEILING"):f}"')


def _beyond(requests: Mapping[str, Any], limits: Mapping[str, Any]) -> Iterator[Finding]:
    """https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/core/v1/helper/helpers.go, IsOvercommitAllowed."""
    for name, value in requests.items():
        asked, fixed = quantity(str(value)), _extended(name) or name.startswith(PAGES)
        if name not in limits:
            if fixed:
                yield Finding((name,), f"a request for {name} needs a limit", "write the same amount as its limit")
        elif message := _differs(asked, quantity(str(limits[name])), fixed=fixed):
            hint = f'write the limit "{value}", or the request "{limits[name]}"'
            yield Finding((name,), f'"{value}" {message} "{limits[name]}"', hint)


def _differs(asked: Decimal | None, most: Decimal | None, *, fixed: bool) -> str:
    if asked is None or most is None or asked == most:
        return ""
    if fixed:
        return "" if asked % 1 or most % 1 else "is not the limit"
    return "is above the limit" if asked > most else ""


def _extended(name: str) -> bool:
    return "/" in name and "kubernetes.io/" not in name


def _ports(ports: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for index, port in enumerate(ports):
        for key in ("containerPort", "hostPort"):
            number = port.get(key) or int(key == "hostPort")
            if not 1 <= number <= PORTS:
                yield Finding((index, key), f"{number} is no port: 1 to {PORTS}")
        # To the server an empty one is TCP.
        if (port.get("protocol") or "TCP") not in PROTOCOLS:
            yield Finding((index, "protocol"), f'"{port["protocol"]}" is not one of {quoted(PROTOCOLS)}')
        if port.get("name") and port["name"] in {other.get("name") for other in ports[:index]}:
            yield _twice((index, "name"), f'two ports of the container are named "{port["name"]}"')


def _mounts(mounts: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for index, mount in enumerate(mounts):
        if mount["mountPath"] in {other["mountPath"] for other in mounts[:index]}:
            message = f'two volumes of the container are mounted at "{mount["mountPath"]}"'
            yield Finding((index, "mountPath"), message, "give each a path of its own")
