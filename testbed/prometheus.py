"""A cluster, rules and lists of targets in; a Prometheus out that scrapes the API server, the scheduler and the targets."""

import json
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed import ports, processes, programs
from testbed.cluster import Cluster
from testbed.processes import Process

MODULE = "prometheus"
SECONDS = 60
EVERY = "5s"
"""A scrape may last as long, no longer; an API server that a busy machine runs needed almost two seconds for its metrics."""
OPERATOR = "github.com/prometheus-operator/prometheus-operator"


@dataclass(frozen=True)
class Prometheus:
    """One that runs."""

    port: int

    def ask(self, query: str) -> list[tuple[dict[str, str], float]]:
        """The labels and the value of every series that a query finds now."""
        found = self._get("query", query=query)["result"]
        return [(each["metric"], float(each["value"][1])) for each in found]

    def unhealthy(self) -> list[str]:
        """What it says of targets that it cannot scrape."""
        targets = self._get("targets")["activeTargets"]
        return [f"{each['scrapeUrl']}: {each['lastError']}" for each in targets if each["health"] == "down"]

    def _get(self, what: str, **parameters: str) -> Any:
        url = f"http://127.0.0.1:{self.port}/api/v1/{what}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]


@contextmanager
def prometheus(
    cluster: Cluster, *, rules: Mapping[str, Any] | None = None, lists: Sequence[str] = ()
) -> Iterator[Prometheus]:
    """Start one that evaluates `rules` (a rule file) and asks the URLs `lists` for targets, and wait until it answers."""
    with tempfile.TemporaryDirectory() as name:
        folder, reserved = Path(name), ports.reserve()
        (folder / "rules.json").write_text(json.dumps(rules or {"groups": []}))
        (folder / "config.json").write_text(json.dumps(_config(cluster, folder, lists)))
        port = ports.number(reserved)
        started = processes.start(MODULE, _command(folder, port), log=folder / "log", port=port, tied=True)
        try:
            _wait(started, folder / "log")
            yield Prometheus(port)
        finally:
            processes.stop([started])
            reserved.close()


def check(rules: Mapping[str, Any], folder: Path) -> str:
    """What promtool says of a rule file, with every lint on; raises subprocess.CalledProcessError where it finds a mistake."""
    file = folder / "rules.json"
    file.write_text(json.dumps(rules))
    command = [str(programs.path(MODULE, "promtool")), "check", "rules", "--lint=all", "--lint-fatal", str(file)]
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def definition(plural: str) -> Path:
    """The CustomResourceDefinition of a kind of the Prometheus Operator."""
    folder = programs.module_dir(MODULE, OPERATOR) / "example" / "prometheus-operator-crd"
    return folder / f"monitoring.coreos.com_{plural}.yaml"


def _command(folder: Path, port: int) -> list[str]:
    return [
        str(programs.path(MODULE, "prometheus")), f"--config.file={folder / 'config.json'}",
        f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip


def _config(cluster: Cluster, folder: Path, lists: Sequence[str]) -> dict[str, Any]:
    """https://prometheus.io/docs/prometheus/latest/configuration/configuration/ ; YAML's readers read JSON."""
    view = json.loads(cluster.kubectl("config", "view", "--raw", "--minify", "-o", "json").stdout)
    secure: dict[str, Any] = {"scheme": "https", "tls_config": {"insecure_skip_verify": True}}
    jobs = [
        {
            "job_name": name, "static_configs": [{"targets": [f"127.0.0.1:{cluster.port(name)}"]}],
            "authorization": {"credentials": view["users"][0]["user"]["token"]}, **secure,
        }
        for name in ("kube-apiserver", "kube-scheduler")
    ]  # fmt: skip
    if lists:
        told = [{"url": url, "refresh_interval": "5s"} for url in lists]
        jobs.append({"job_name": "kwok", "honor_labels": True, "http_sd_configs": told})
    return {
        "global": {"scrape_interval": EVERY, "evaluation_interval": EVERY},
        "rule_files": [str(folder / "rules.json")],
        "scrape_configs": jobs,
    }


def _wait(started: Process, log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while not _answers(started.port):
        if time.monotonic() > deadline or not started.alive():
            raise TimeoutError(f"{started.name} does not answer: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.2)


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=10):
            return True
    except (urllib.error.URLError, OSError):
        return False
