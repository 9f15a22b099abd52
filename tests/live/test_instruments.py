"""Instruments: a real Prometheus with the bundle's rules, which say of a run what the cluster itself says of it."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from testbed import prometheus as testing
from testbed import removing
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from testbed.definitions import established
from testbed.prometheus import Prometheus
from tests.live.likeness import unlike
from tests.live.rendering import bundle, written
from tests.live.test_bundles import documents, errors_of_kwok, not_unchanged
from tests.live.watching import until

pytestmark = pytest.mark.live

SECONDS = 60
KINDS = {"PodMonitor": "podmonitors", "PrometheusRule": "prometheusrules", "ScrapeConfig": "scrapeconfigs"}
NAME = "measured"
JOBS = {"train": 5, "infer": 2}
WAITING = 1
"""Of eight GPUs, five jobs ask for two each."""
BOUND = sum(JOBS.values()) - WAITING
SPEC = """
controller: {shards: 2}
observability: {prometheus: true, grafana: true}
lifecycles: [{name: n, nodes: heartbeat-lease}, {name: p, pods: timed, create: 0s, run: 1h}]
pools:
- {name: claimed, count: 2, machine: {cpu: 64, memory: 256Gi}, gpus: {model: l40s, count: 4}}
- {name: counted, count: 2, machine: p4d.24xlarge, expose: extended-resource}
- {name: plain, count: 1, machine: {cpu: 8, memory: 8Gi}}
claims: [{name: two, requests: [{deviceClassName: gpu.nvidia.com, count: 2}]}]
workloads:
- {name: first, kind: job, suspend: true, pools: [plain]}
- {name: train, kind: job, count: 5, suspend: true, pools: [claimed], claims: [two], container: {resources: {cpu: 4, memory: 8Gi}}}
- name: infer
  kind: job
  count: 2
  suspend: true
  pools: [counted]
  gpus: 4
  annotations: {kwok.x-k8s.io/usage-gpus: "1", kwok.x-k8s.io/usage-cpu: 500m, kwok.x-k8s.io/usage-memory: 1Gi}
  container: {resources: {cpu: 2, memory: 4Gi}}
"""
LATENCIES = (
    'scheduler_pod_scheduling_sli_duration_seconds_count{attempts="1"}',
    'scheduler_scheduling_attempt_duration_seconds_count{result="scheduled"}',
)
"""Each number of attempts is a series of its own, and a rate is without what a series begins with."""
MEMORY = (4 * 8 + 2 * 1) * 2**30
CPUS = 4 * 4 + 2 * 0.5


class Run(NamedTuple):
    """A bundle whose jobs have begun, the Prometheus that watches, and how many pods were bound before they did."""

    live: Bundle
    server: Prometheus
    before: float


@pytest.fixture(scope="module")
def definitions(cluster: Cluster) -> Iterator[None]:
    """Those of the Prometheus Operator, which none runs here."""
    files = [argument for plural in KINDS.values() for argument in ("-f", str(testing.definition(plural)))]
    cluster.kubectl("apply", "--server-side", *files)
    established(cluster.kubectl)
    yield
    cluster.kubectl("delete", *files)


@pytest.fixture(scope="module")
def run(cluster: Cluster, definitions: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = written(NAME, cluster.minor, tmp_path_factory.mktemp("measured") / "b", SPEC)
    with removing.applied(cluster, folder) as live:
        lists = [f"http://127.0.0.1:{cluster.port(each.name)}/discovery/prometheus" for each in live.controllers]
        with testing.prometheus(cluster, rules=rules(folder), lists=lists) as server:
            until(lambda: len(server.ask("kwokgen_node_gpus")) == 5, SECONDS, "every node is scraped")
            # A rate needs counters that are there before: those of a pod that no node kept waiting.
            resume(cluster, "first-0")
            until(lambda: running(cluster) == 1, SECONDS, "the first pod runs")
            for query in ("up", "kwokgen:pods_bound:total"):
                asked_anew(server, query)
            for counter in LATENCIES:
                until(lambda counter=counter: value(server, counter) >= 1, SECONDS, f"{counter} is counted")
            before = value(server, "kwokgen:pods_bound:total")
            resume(cluster, *(f"{job}-{index}" for job, count in JOBS.items() for index in range(count)))
            until(lambda: running(cluster) == BOUND + 1, SECONDS, "the pods run")
            yield Run(live, server, before)
        assert errors_of_kwok(cluster, live) == []


def resume(cluster: Cluster, *jobs: str) -> None:
    cluster.kubectl("patch", "job", *jobs, "-n", NAME, "-p", '{"spec": {"suspend": false}}')


def asked_anew(server: Prometheus, query: str) -> None:
    """Wait until every series of a query is younger than now: pods of other tests are counted as well."""
    now = time.time()
    until(lambda: value(server, f"min(timestamp({query}))") > now, SECONDS, f"{query} is asked for anew")


def rules(folder: Path) -> dict[str, Any]:
    """A PrometheusRule's spec is a rule file."""
    return dict(one(folder, "PrometheusRule")["spec"])


def one(folder: Path, kind: str) -> dict[str, Any]:
    (found,) = [each for each in documents(folder, "95-*") if each["kind"] == kind]
    return found


def value(server: Prometheus, query: str) -> float:
    """Of a query that finds one series at most; 0 of none."""
    return sum(value for _, value in server.ask(query))


def ever(query: str) -> str:
    """The most that a query of one series found so far: a minute's rate is gone when a slow machine comes to ask for it."""
    return f"max_over_time({query}[1h])"


def by(server: Prometheus, label: str, query: str) -> dict[str, float]:
    return {labels[label]: value for labels, value in server.ask(query)}


def running(cluster: Cluster) -> int:
    found = cluster.kubectl("get", "pods", "-n", NAME, "--no-headers", "--field-selector=status.phase=Running")
    return len(found.stdout.splitlines())


def settles(said: Callable[[], object], wanted: object) -> None:
    until(lambda: said() == wanted, SECONDS, f"what is recorded is {wanted}, and not {said()},")


def test_promtool_finds_nothing(run: Run, tmp_path: Path) -> None:
    said = testing.check(rules(run.live.folder), tmp_path)
    assert "SUCCESS" in said


def test_promtool_finds_a_mistake(run: Run, tmp_path: Path) -> None:
    wrong = rules(run.live.folder)
    wrong["groups"][0]["rules"][0]["expr"] += ")"
    with pytest.raises(subprocess.CalledProcessError):
        testing.check(wrong, tmp_path)


def test_bindings_are_the_pods_that_were_bound(run: Run, cluster: Cluster) -> None:
    """In number; and their rate was not 0."""
    settles(lambda: value(run.server, "kwokgen:pods_bound:total") - run.before, BOUND)
    assert value(run.server, ever("kwokgen:pods_bound:rate1m")) > 0


def test_latencies_are_ordered(run: Run) -> None:
    for record in ("kwokgen:pod_scheduling_seconds:quantile1m", "kwokgen:scheduling_attempt_seconds:quantile1m"):
        until(lambda record=record: len(run.server.ask(ever(record))) == 2, SECONDS, f"{record} is there")
        found = by(run.server, "quantile", ever(record))
        assert 0 < found["0.5"] <= found["0.99"]


def test_pending_pods_are_those_without_a_node(run: Run, cluster: Cluster) -> None:
    """One of ours, and the controllers' own, which no kubelet is there to run."""
    pods = cluster.get("pods", "--all-namespaces", "--field-selector=status.phase=Pending")
    unbound = sum("nodeName" not in pod["spec"] for pod in pods)
    assert unbound > WAITING
    settles(lambda: value(run.server, "kwokgen:pods_pending:sum"), unbound)
    assert by(run.server, "queue", "kwokgen:pods_pending:sum").keys() >= {"active", "backoff", "unschedulable", "gated"}


def test_gpus_are_counted(run: Run) -> None:
    """Devices that are claimed and resources that are requested, over both controllers; used as much as is said by hand."""
    settles(lambda: by(run.server, "pool", "kwokgen:gpus_allocatable:sum"), {"claimed": 8, "counted": 16})
    settles(lambda: by(run.server, "pool", "kwokgen:gpus_allocated:sum"), {"claimed": 8, "counted": 8})
    settles(lambda: by(run.server, "pool", "kwokgen:gpus_allocated:ratio"), {"claimed": 1, "counted": 0.5})
    settles(lambda: by(run.server, "pool", "kwokgen:gpus_used:ratio"), {"claimed": 1, "counted": 2 / 16})


def test_pods_use_what_they_ask_for(run: Run) -> None:
    """Or what an annotation says; a rate over a minute that has just begun is below what it will be."""
    settles(lambda: by(run.server, "namespace", "kwokgen:pod_memory_bytes:sum"), {NAME: MEMORY})
    until(lambda: value(run.server, "kwokgen:pod_cpu_cores:rate1m") > CPUS / 10, SECONDS, "CPUs are used")
    assert value(run.server, "kwokgen:pod_cpu_cores:rate1m") < CPUS * 1.1


def test_every_record_and_every_panel_has_numbers(run: Run) -> None:
    """None was ever NaN, each had a number, and what the dashboard asks for is what is recorded."""
    (text,) = one(run.live.folder, "ConfigMap")["data"].values()
    asked = [target["expr"] for panel in json.loads(text)["panels"] for target in panel["targets"]]
    records = {rule["record"] for rule in rules(run.live.folder)["groups"][0]["rules"]}
    assert asked == [f'{record}{{bundle="{NAME}"}}' for record in dict.fromkeys(asked_names(asked))]
    assert set(asked_names(asked)) == records
    for query in asked:
        assert any(number for _, number in run.server.ask(ever(query) if "1m" in query else query)), query
        assert run.server.ask(f"count_over_time(({query} != {query})[1h:1s])") == [], query
    assert run.server.unhealthy() == []


def asked_names(queries: list[str]) -> list[str]:
    return [query.partition("{")[0] for query in queries]


@pytest.mark.newest
def test_the_example_is_taken(cluster: Cluster, definitions: None, tmp_path: Path) -> None:
    """By the operator's own definitions, without a warning, and once."""
    folder = bundle("observability", cluster.minor, tmp_path / "b")
    cluster.kubectl("apply", "-f", str(folder / "00-namespace.yaml"))
    file = str(folder / "95-observability.yaml")
    strict = cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", file)
    assert strict.stderr == ""
    with removing.applied(cluster, folder) as live:
        assert not_unchanged(cluster, folder) == []
        assert errors_of_kwok(cluster, live) == []


@pytest.mark.newest
@pytest.mark.parametrize("kind", KINDS)
def test_our_schemas_say_nothing_else_than_the_definitions(kind: str) -> None:
    """Each field of ours is one of theirs, with its type."""
    version = "v1alpha1" if kind == "ScrapeConfig" else "v1"
    definition = testing.definition(KINDS[kind])
    assert unlike(f"prometheus-operator/{kind.lower()}", definition, version) == []
