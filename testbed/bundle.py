"""A rendered bundle folder in; its name, what it asks of a cluster, and its KWOK controllers out."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from testbed import operators
from testbed.operators import Operator

INSTANCE = "app.kubernetes.io/instance"
CONFIG_KEY = "kwok.yaml"
WAIT = re.compile(
    r"^kubectl wait --for=(?:condition=(\w+)|jsonpath='\{(\S+)\}'=(\w+)) (\S+) -l \S+ -n (\S+)", re.MULTILINE
)
DEFINED = re.compile(r"^kubectl (wait --for=.* crd/\S+)$", re.MULTILINE)
TRUE_CONDITIONS = '.status.conditions[?(@.status=="True")].type'
CONTROLLER_KINDS = re.compile(r"^kind: [\"']?(ConfigMap|Deployment)\b", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Controller:
    """One KWOK process. Without a service account (it runs outside of the cluster) it is the administrator."""

    name: str
    config: str
    namespace: str | None = None
    service_account: str | None = None


@dataclass(frozen=True, kw_only=True)
class Awaited:
    """Workloads other than Jobs: where they tell how they are, and the word for done that `kubectl wait` waits for."""

    kind: str
    namespace: str
    path: str
    word: str


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """What a test or a person needs to know of a bundle to run it.

    `kueue` is what it wants of Kueue's Configuration, `defined` how its README waits, by kubectl, for its own definition.
    """

    folder: Path
    name: str
    gates: tuple[str, ...]
    runtime_config: tuple[str, ...]
    controllers: tuple[Controller, ...]
    kueue: dict[str, Any] | None
    operators: tuple[Operator, ...]
    awaited: tuple[Awaited, ...]
    defined: tuple[tuple[str, ...], ...]

    @property
    def selector(self) -> str:
        """The label selector of every object of the bundle."""
        return f"{INSTANCE}={self.name}"


def read(folder: Path) -> Bundle:
    """Read a bundle; raises ValueError when the folder is none."""
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such folder")
    documents = list(_documents(folder))
    name = _name(folder, documents)
    readme = folder / "README.md"
    needs = readme.read_text() if readme.exists() else ""
    return Bundle(
        folder=folder,
        name=name,
        gates=_required("feature gate", needs),
        runtime_config=_required("runtime-config", needs),
        controllers=(*_deployed(documents), *_outside(folder, name)),
        kueue=_kueue(needs),
        operators=operators.asked(needs),
        awaited=tuple(dict.fromkeys(_awaited(needs))),
        defined=tuple(tuple(shlex.split(line)) for line in DEFINED.findall(needs)),
    )


def _documents(folder: Path) -> Iterator[dict[str, Any]]:
    """The first document of each file, and those of controllers: parsing ten thousand nodes would take minutes."""
    parser = YAML(typ="safe", pure=True)
    for file in sorted(folder.glob("*.yaml")):
        texts = re.split(r"^---.*\n", file.read_text(), flags=re.MULTILINE)
        whole = [text for text in texts if re.search(r"^\w", text, re.MULTILINE)]
        for place, text in enumerate(whole):
            if place == 0 or CONTROLLER_KINDS.search(text):
                yield parser.load(text)


def _name(folder: Path, documents: list[dict[str, Any]]) -> str:
    names = {document["metadata"].get("labels", {}).get(INSTANCE) for document in documents} - {None}
    if len(names) != 1:
        raise ValueError(f"{folder}: not one bundle; {INSTANCE} is {sorted(names) or 'nowhere'}")
    return str(names.pop())


def _required(what: str, readme: str) -> tuple[str, ...]:
    return tuple(re.findall(rf"^- {what}: `([^`]+)`", readme, re.MULTILINE))


def _kueue(readme: str) -> dict[str, Any] | None:
    if not re.search(r"^- kueue v", readme, re.MULTILINE):
        return None
    said = re.search(r"^- Kueue's Configuration: `(.+)`$", readme, re.MULTILINE)
    return dict(json.loads(said[1])) if said else {}


def _awaited(readme: str) -> Iterator[Awaited]:
    """Of the README's own `kubectl wait` lines; a condition that is True is a word as well."""
    for condition, path, value, kind, namespace in WAIT.findall(readme):
        if kind != "job":
            yield Awaited(kind=kind, namespace=namespace, path=path or TRUE_CONDITIONS, word=condition or value)


def _deployed(documents: list[dict[str, Any]]) -> Iterator[Controller]:
    accounts = {
        _key(each): each["spec"]["template"]["spec"]["serviceAccountName"]
        for each in documents
        if each["kind"] == "Deployment" and "serviceAccountName" in each["spec"]["template"]["spec"]
    }
    for each in documents:
        if each["kind"] == "ConfigMap" and CONFIG_KEY in each.get("data", {}) and _key(each) in accounts:
            namespace, name = _key(each)
            config = each["data"][CONFIG_KEY]
            yield Controller(name=name, config=config, namespace=namespace, service_account=accounts[namespace, name])


def _key(document: dict[str, Any]) -> tuple[str, str]:
    return document["metadata"]["namespace"], document["metadata"]["name"]


def _outside(folder: Path, bundle: str) -> Iterator[Controller]:
    file = folder / "controller" / CONFIG_KEY
    if file.exists():
        yield Controller(name=f"kwok-{bundle}", config=file.read_text())
