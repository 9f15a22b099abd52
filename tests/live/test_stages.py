"""What the lint of Stages holds for KWOK's, on KWOK: the functions of templates, and what becomes of a Stage half read."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml

from kwokgen.catalog import Catalog, entries
from kwokgen.problem import Pos
from testbed.cluster import Cluster
from tests.live.watching import until

pytestmark = [pytest.mark.live, pytest.mark.newest]
NAME = "lint"
FUNCTIONS = entries.kwok(Catalog().get("kwok", "v0.8.0", Pos(""), "release")).functions
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": NAME, "labels": {"case": NAME}},
    "status": {part: {"cpu": "8", "memory": "8Gi", "pods": "9"} for part in ("capacity", "allocatable")},
}
TOLERATED = {"nodeName": NAME, "tolerations": [{"operator": "Exists"}], "containers": [{"name": "c", "image": "i"}]}


def pod(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": TOLERATED}


def stage(name: str, kind: str, expressions: list[dict[str, Any]], template: str) -> dict[str, Any]:
    spec = {
        "resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": expressions},
        "next": {"statusTemplate": template},
    }
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": spec}


def start(kind: str, template: str = "phase: Running") -> dict[str, Any]:
    key = {"key": ".status.phase", "operator": "NotIn", "values": ["Running"]}
    return stage(f"start-{kind.lower()}", kind, [key], template)


@contextmanager
def played(cluster: Cluster, *stages: dict[str, Any]) -> Iterator[str]:
    """The name of the log of a KWOK that plays Stages on one node and two pods of it."""
    selected = {"manageAllNodes": False, "manageNodesWithLabelSelector": f"case={NAME}"}
    options = selected | {f"{what}Parallelism": 4 for what in ("podsOnNodeSync", "nodePlayStage", "podPlayStage")}
    head = {"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokConfiguration", "metadata": {"name": NAME}}
    config = yaml.safe_dump_all([{**head, "options": options}, *stages])
    process = cluster.kwok(config, token=None, name=f"kwok-{NAME}")
    things = [NODE, pod("one"), pod("two")]
    try:
        cluster.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": things}))
        yield process.name
    finally:
        # One that has ended by itself is no longer asked after.
        cluster.end(process)
        cluster.kubectl("delete", "pods", "one", "two", "--force", "--grace-period=0", "--ignore-not-found")
        cluster.kubectl("delete", "node", NAME, "--ignore-not-found")


def phases(cluster: Cluster) -> set[str]:
    return {one["status"].get("phase", "") for one in (*cluster.get("node", NAME), *cluster.get("pods", "one", "two"))}


def test_every_function_of_the_catalogue_is_there(cluster: Cluster) -> None:
    """Go looks for all that a template names before it makes anything of it."""
    named = {kind: "".join(f"{{{{ {name} }}}}" for name in sorted(FUNCTIONS[kind])) for kind in ("Node", "Pod")}
    stages = [start(kind, f"{{{{ if false }}}}{words}{{{{ end }}}}\nphase: Running") for kind, words in named.items()]
    with played(cluster, *stages) as log:
        until(lambda: phases(cluster) == {"Running"}, 30, "every object is played")
        assert "not defined" not in cluster.log(log)


def test_an_expression_that_is_not_closed_ends_kwok(cluster: Cluster) -> None:
    """As soon as another Stage matches the same object: what the hint of the lint says."""
    broken = stage("broken", "Pod", [{"key": ".metadata.labels[", "operator": "Exists"}], "phase: Failed")
    with played(cluster, start("Node"), start("Pod"), broken) as log:
        until(lambda: "panic: runtime error: invalid memory address" in cluster.log(log), 30, "KWOK has ended")
        assert "stage match: unexpected EOF" in cluster.log(log)
