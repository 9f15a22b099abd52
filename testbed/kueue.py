"""Kueue beside a control plane: its definitions, its Configuration with what a bundle wants, and its webhooks of plain pods."""

import json
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from testbed import components, credentials, programs, webhooks
from testbed.cluster import Cluster
from testbed.definitions import established
from testbed.processes import Process

NAME = "kueue"
FRAMEWORKS = {
    "deployment": ("pod",),
    "appwrapper": ("workload.codeflare.dev/appwrapper",),
    "jobset": ("jobset.x-k8s.io/jobset",),
    "leaderworkerset": ("pod", "leaderworkerset.x-k8s.io/leaderworkerset"),
    "pod": ("pod",),
    "pytorchjob": ("kubeflow.org/pytorchjob",),
    "raycluster": ("ray.io/raycluster",),
    "rayjob": ("ray.io/rayjob",),
    "trainjob": ("trainer.kubeflow.org/trainjob",),
}
"""What Kueue calls a kind that it lets in, and what it needs for that."""


def start(cluster: Cluster, wanted: dict[str, Any], kinds: Collection[str] = ()) -> Process:
    """Start Kueue with its definitions and `wanted` in its Configuration, for Jobs and `kinds`; a second call starts it anew."""
    end(cluster)
    source = programs.module_dir(NAME, "sigs.k8s.io/kueue") / "config" / "components"
    cluster.kubectl("apply", "--server-side", "-f", str(source / "crd" / "bases"))
    established(cluster.kubectl)
    health, webhook, etc = cluster.reserve(), cluster.reserve(), cluster.folder / "etc"
    certificates = etc / components.KUEUE_CERTIFICATES
    certificates.mkdir(parents=True, exist_ok=True)
    for name in (credentials.CERTIFICATE, credentials.KEY):
        shutil.copy(cluster.folder / name, certificates)
    config = components.kueue_config(wanted, certificates=cluster.folder, health=health, webhook=webhook)
    named = dict.fromkeys(name for kind, names in FRAMEWORKS.items() if kind in kinds for name in names)
    config["integrations"]["frameworks"] += named
    file = cluster.folder / f"{NAME}.json"
    file.write_text(json.dumps(config))
    command = components.operator(NAME, kubeconfig=cluster.kubeconfig, config=file)
    started = cluster.program(NAME, command, port=health, ready=[f"http://127.0.0.1:{health}/readyz"], etc=etc)
    if named:
        hooks = list(_hooks(source, _names(kinds), cluster, webhook))
        _installed(cluster).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": hooks}))
        cluster.kubectl("apply", "-f", str(_installed(cluster)))
    return started


def end(cluster: Cluster) -> None:
    """Stop it, and nobody calls its webhooks any more."""
    if _installed(cluster).exists():
        cluster.kubectl("delete", "--ignore-not-found", "-f", str(_installed(cluster)))
        _installed(cluster).unlink()
    for process in [each for each in cluster.running if each.name == NAME]:
        cluster.end(process)


def _names(kinds: Collection[str]) -> set[str]:
    """The webhooks of the kinds, and of pods; those of Jobs are left out, which bundles suspend themselves."""
    asked = {kind for kind in kinds if kind in FRAMEWORKS}
    asked |= {"pod"} if any("pod" in FRAMEWORKS[kind] for kind in asked) else set()
    return {f"{how}{kind}.kb.io" for how in "mv" for kind in asked}


def _installed(cluster: Cluster) -> Path:
    return cluster.folder / f"{NAME}-webhooks.json"


def _hooks(source: Path, names: Collection[str], cluster: Cluster, port: int) -> Iterator[dict[str, Any]]:
    """Its configurations of webhooks with those of `names`, called at a port of ours, for all but the system's namespaces."""
    text = (source / "webhook" / "manifests.yaml").read_text()
    for each in YAML(typ="safe", pure=True).load_all(text):
        if each["kind"] in webhooks.CONFIGURATIONS:
            kept = [hook for hook in each["webhooks"] if hook["name"] in names]
            for hook in kept:
                webhooks.call(hook, cluster, port)
            meta = {"name": f"{NAME}-{each['kind'].removesuffix('WebhookConfiguration').lower()}"}
            yield {**each, "metadata": meta, "webhooks": kept}
