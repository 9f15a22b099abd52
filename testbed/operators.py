"""The controllers of kinds of workloads: a release, as its Go module brings it, in; a process beside the control plane out.

Its definitions and webhooks are installed with it; these call 127.0.0.1, since nobody reaches Services here.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from testbed import components, programs, webhooks
from testbed.cluster import Cluster
from testbed.definitions import established
from testbed.processes import Process

PATIENCE = 30
KIND = re.compile(r"^kind: (\w+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Operator:
    """One release: `name` is that of its program and of its module here, `source` the Go module with its `kustomization`.

    A bundle asks for it with a line `- ASKED v…`. `api` is its Configuration's apiVersion, None where it reads a ConfigMap.
    """

    name: str
    asked: str
    source: str
    kustomization: str
    api: str | None


JOBSET = Operator(
    name="jobset",
    asked="JobSet",
    source="sigs.k8s.io/jobset",
    kustomization="config/default",
    api="config.jobset.x-k8s.io/v1alpha1",
)
LWS = Operator(
    name="lws",
    asked="LeaderWorkerSet",
    source="sigs.k8s.io/lws",
    kustomization="config/default",
    api="config.lws.x-k8s.io/v1alpha1",
)
# Its webhooks listen on a port of all addresses that no option changes: it runs without, as in its own config/dev.
APPWRAPPER = Operator(
    name="appwrapper",
    asked="AppWrapper",
    source="github.com/project-codeflare/appwrapper",
    kustomization="config/crd",
    api=None,
)
OPERATORS = (JOBSET, LWS, APPWRAPPER)


def asked(readme: str) -> tuple[Operator, ...]:
    """Those that a bundle's README asks for."""
    return tuple(each for each in OPERATORS if re.search(rf"^- {each.asked} v", readme, re.MULTILINE))


def start(cluster: Cluster, operator: Operator) -> Process:
    """Install it and start it; returns when it answers, and each of its webhooks."""
    health, webhook = cluster.reserve(), cluster.reserve()
    definitions, hooks = _released(cluster, operator)
    urls = [webhooks.call(hook, cluster, webhook) for each in hooks for hook in each["webhooks"]]
    config, maps = _configured(cluster, operator, health, webhook)
    installed = _installed(cluster, operator)
    installed.write_text("\n---\n".join([*definitions, *map(json.dumps, [*hooks, *maps])]))
    cluster.kubectl("apply", "--server-side", "-f", str(installed))
    established(cluster.kubectl)
    command = components.operator(operator.name, kubeconfig=cluster.kubeconfig, config=config)
    ready, environment = [f"http://127.0.0.1:{health}/healthz", *urls], {"NAMESPACE": _namespace(operator)}
    return cluster.program(operator.name, command, port=health, ready=ready, environment=environment)


def end(cluster: Cluster, operator: Operator) -> None:
    """Take away what was installed, while the program still lets go of its objects, and stop it."""
    for process in [each for each in cluster.running if each.name == operator.name]:
        cluster.kubectl("delete", "-f", str(_installed(cluster, operator)))
        cluster.end(process)


def _installed(cluster: Cluster, operator: Operator) -> Path:
    return cluster.folder / f"{operator.name}.yaml"


def _released(cluster: Cluster, operator: Operator) -> tuple[list[str], list[dict[str, Any]]]:
    """Its definitions, as they are, and its webhook configurations; roles and Deployments are for inside of a cluster."""
    folder = programs.module_dir(operator.name, operator.source) / operator.kustomization
    texts = cluster.kubectl("kustomize", str(folder)).stdout.split("\n---\n")
    kinds = [(found[1], text) for text in texts if (found := KIND.search(text))]
    parse = YAML(typ="safe", pure=True).load
    definitions = [text for kind, text in kinds if kind == "CustomResourceDefinition"]
    return definitions, [parse(text) for kind, text in kinds if kind in webhooks.CONFIGURATIONS]


def _configured(
    cluster: Cluster, operator: Operator, health: int, webhook: int
) -> tuple[str, Iterable[dict[str, Any]]]:
    """What its option `config` names, and the objects that hold it where that is no file."""
    if operator.api is None:
        return operator.name, _config_map(operator, health)
    file = cluster.folder / f"{operator.name}.json"
    config = components.configuration(operator.api, certificates=cluster.folder, health=health, webhook=webhook)
    file.write_text(json.dumps(config))
    return str(file), ()


def _config_map(operator: Operator, health: int) -> Iterator[dict[str, Any]]:
    """https://github.com/project-codeflare/appwrapper/blob/v1.2.0/pkg/config/config.go ."""
    manager = {"health": {"bindAddress": f"127.0.0.1:{health}"}, "metrics": {"bindAddress": "0"}}
    config = {"controllerManager": manager, "webhooksEnabled": False}
    namespace = _namespace(operator)
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    yield {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": operator.name, "namespace": namespace},
        "data": {"config.yaml": json.dumps(config)},
    }  # fmt: skip


def _namespace(operator: Operator) -> str:
    return f"{operator.name}-system"
