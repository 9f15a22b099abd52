"""Instruments: what is rendered of them for which cluster; that the numbers are right is for tests/live."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwokgen.catalog import Catalog
from kwokgen.needs import requirements
from kwokgen.pipeline import Rendered
from kwokgen.problem import Pos
from tests.unit.rendering import ROOT, documents, objects, rendered

BOTH = "observability: {prometheus: true, grafana: true}\n"
POOLS = """
pools:
- {name: devices, count: 2, machine: p5.48xlarge}
- {name: counted, count: 2, machine: p4d.24xlarge, expose: extended-resource}
- {name: cut, count: 2, machine: p4d.24xlarge, gpus: {partitions: {mode: dynamic}}}
- {name: plain, count: 2, machine: {cpu: 8, memory: 8Gi}}
"""
PLAIN = "pools: [{name: plain, count: 2, machine: {cpu: 8, memory: 8Gi}}]\n"
CLAIMS = """
claims:
- {name: two, requests: [{deviceClassName: gpu.nvidia.com, count: 2}]}
- {name: all, shared: true, requests: [{deviceClassName: gpu.nvidia.com, count: 3}]}
- {name: part, requests: [{deviceClassName: mig.nvidia.com, profile: 1g.5gb}]}
workloads:
- {name: claims, kind: job, claims: [two, all]}
- {name: counts, kind: job, pools: [counted], gpus: 4}
- {name: parts, kind: job, pools: [cut], claims: [part]}
"""
NEW = {"PodMonitor", "PrometheusRule", "ScrapeConfig", "Service"}


def one(done: Rendered, kind: str) -> dict[str, Any]:
    (found,) = documents(done, kind).values()
    return found


def records(done: Rendered) -> list[str]:
    (group,) = one(done, "PrometheusRule")["spec"]["groups"]
    return list(dict.fromkeys(rule["record"] for rule in group["rules"]))


def told(done: Rendered, kind: str) -> dict[str, Any]:
    """The spec of a document of the first controller's configuration."""
    configs = [
        each["data"]["kwok.yaml"] for each in documents(done, "ConfigMap").values() if "kwok.yaml" in each["data"]
    ]
    (found,) = [each["spec"] for each in yaml.safe_load_all(configs[0]) if each["kind"] == kind]
    return dict(found)


def metrics(done: Rendered) -> dict[str, str]:
    return {each["name"]: each["value"] for each in told(done, "Metric")["metrics"]}


def test_without_being_asked_there_is_nothing(tmp_path: Path) -> None:
    """No object, no annotation, and nothing in the controllers' configuration."""
    done = rendered(tmp_path, POOLS + CLAIMS)
    assert not objects(done, *NEW)
    text = b"".join(done.bundle().stream())
    assert not re.search(rb"kwokgen.io/gpus|ClusterResourceUsage|kind: Metric|dashboard", text)


def test_all_of_it_stands_in_a_file_of_its_own(tmp_path: Path) -> None:
    done = rendered(tmp_path, BOTH + POOLS)
    (file,) = [file for file in done.bundle().files if file.path.startswith("95-")]
    kinds = {each["kind"] for each in yaml.safe_load_all(b"".join(file.pieces()))}
    assert kinds == NEW | {"ConfigMap"}


@pytest.mark.parametrize("system", ["default", "kai", "kueue", "volcano", "yunikorn"])
def test_the_dashboard_asks_for_what_is_recorded(tmp_path: Path, system: str) -> None:
    """Each record once, under each queue system."""
    queues = f"queues: {{system: {system}, list: [{{name: q, quota: [{{pool: counted, gpus: 8}}]}}]}}\n"
    done = rendered(tmp_path, BOTH + POOLS + queues)
    (board,) = [each for each in documents(done, "ConfigMap").values() if "t.json" in each["data"]]
    assert board["metadata"]["labels"]["grafana_dashboard"] == "1"
    panels = json.loads(board["data"]["t.json"])["panels"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    assert asked == [f'{record}{{bundle="t"}}' for record in records(done)]
    assert len({tuple(panel["gridPos"].values()) for panel in panels}) == len(panels)
    assert "[bundle]" not in json.dumps(one(done, "PrometheusRule"))


@pytest.mark.parametrize(
    ("system", "waiting"),
    [
        ("default", {"kwokgen:pods_pending:sum"}),
        ("kueue", {"kwokgen:pods_pending:sum", "kwokgen:jobs_pending:sum"}),
        ("volcano", {"kwokgen:jobs_pending:sum"}),
        ("yunikorn", {"kwokgen:jobs_pending:sum"}),
        ("kai", set()),
    ],
)
def test_what_waits_is_asked_of_who_schedules(tmp_path: Path, system: str, waiting: set[str]) -> None:
    """Kubernetes' own scheduler has nothing to tell of another's pods; the cluster's needs name who is scraped."""
    queues = f"queues: {{system: {system}, list: [{{name: q, quota: [{{pool: counted, gpus: 8}}]}}]}}\n"
    done = rendered(tmp_path, BOTH + POOLS + queues)
    assert {record for record in records(done) if "pending" in record} == waiting
    (needed,) = [other for other in requirements(done.cluster).others if "scrapes" in other]
    assert ("kube-scheduler" in needed) == (system in {"default", "kueue"})


def test_gpus_are_counted_where_they_are_whole(tmp_path: Path) -> None:
    """Devices as they were made, resources as they are now, and none of those that are cut."""
    text = metrics(rendered(tmp_path, BOTH + POOLS))["kwokgen_node_gpus"]
    assert '{"devices": "8"}' in text
    assert text.endswith(': node.status.allocatable["nvidia.com/gpu"]')


def test_pods_say_how_many_gpus_they_hold_by_claims(tmp_path: Path) -> None:
    """Whole ones of their own: what is requested is seen as it is, a shared claim is not theirs alone."""
    done = documents(rendered(tmp_path, BOTH + POOLS + CLAIMS), "Job")
    said = {
        job["metadata"]["name"]: job["spec"]["template"]
        .get("metadata", {})
        .get("annotations", {})
        .get("kwokgen.io/gpus")
        for job in done.values()
    }
    assert said == {"claims-0": "2", "counts-0": None, "parts-0": None}


def test_nodes_without_gpus_have_no_word_of_them(tmp_path: Path) -> None:
    done = rendered(tmp_path, BOTH + PLAIN)
    assert not [record for record in records(done) if "gpu" in record]
    assert not [name for name in metrics(done) if "gpu" in name]
    assert told(done, "ClusterResourceUsage")["usages"][0]["usage"].keys() == {"cpu", "memory"}


def test_each_controller_is_asked_for_its_own_nodes(tmp_path: Path) -> None:
    done = rendered(tmp_path, BOTH + "controller: {shards: 3, namespace: k}\n" + PLAIN)
    assert [name for _, _, name in objects(done, "Service")] == ["kwok-t", "kwok-t-1", "kwok-t-2"]
    urls = [each["url"] for each in one(done, "ScrapeConfig")["spec"]["httpSDConfigs"]]
    assert urls == [f"http://kwok-t{shard}.k.svc:10247/discovery/prometheus" for shard in ("", "-1", "-2")]
    (selected,) = one(done, "PodMonitor")["spec"]["selector"]["matchExpressions"]
    pods = [each["spec"]["template"]["metadata"]["labels"] for each in documents(done, "Deployment").values()]
    assert [{selected["key"]: name} for name in selected["values"]] == pods


def test_an_existing_controller_tells_nothing(tmp_path: Path) -> None:
    """Its configuration is not ours, and so its pods need not say anything."""
    done = rendered(tmp_path, BOTH + "controller: {run: existing}\n" + POOLS + CLAIMS)
    assert {kind for kind, _, _ in objects(done, *NEW)} == {"PrometheusRule"}
    assert {record.split(":")[1].split("_")[0] for record in records(done)} == {"pods", "pod", "scheduling"}
    assert b"kwokgen.io/gpus" not in b"".join(done.bundle().stream())


def test_the_readme_names_every_record() -> None:
    """Of every system, and none beside them."""
    catalog = Catalog()
    entries = (catalog.get("instruments", name, Pos("test"), "instrument") for name in catalog.names("instruments"))
    there = {rule["record"] for entry in entries for rule in entry.data["rules"]}
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Instruments\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"`(kwokgen:[a-z0-9_:]+)`", section)) == there


def test_labels_are_those_that_a_prometheus_chooses_by(tmp_path: Path) -> None:
    done = rendered(tmp_path, BOTH.replace("}", ", labels: {release: prometheus}}") + PLAIN)
    for kind in ("PodMonitor", "PrometheusRule", "ScrapeConfig"):
        assert one(done, kind)["metadata"]["labels"]["release"] == "prometheus"
