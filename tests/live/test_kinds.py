"""Kinds of workloads under their own definitions: every object is taken as it is, field for field."""

from pathlib import Path

import pytest

from testbed import programs
from testbed.cluster import Cluster
from tests.live.rendering import written

pytestmark = [pytest.mark.live, pytest.mark.newest]

DEFINITIONS = {
    "appwrapper": (
        "github.com/project-codeflare/appwrapper",
        "config/crd/bases/workload.codeflare.dev_appwrappers.yaml",
    ),
    "pytorchjob": ("github.com/kubeflow/training-operator", "manifests/base/crds/kubeflow.org_pytorchjobs.yaml"),
    "jobset": ("sigs.k8s.io/jobset", "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml"),
}
"""By kind, the module that Kueue's pins and the definition in it."""
SPEC = """
pools: [{name: gpu, count: 4, machine: p5.48xlarge, expose: extended-resource, taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}]
lifecycles: [{name: n, nodes: fast}, {name: p, pods: timed, create: 0s, run: 5s}]
workloads:
- {name: plain, kind: KIND}
- name: full
  kind: KIND
  count: 2
  pods: 4
  gpus: 4
  run: {min: 5s, max: 10s}
  priority: 10
  labels: {example.com/team: a}
  annotations: {example.com/sort: b}
  initContainers: [{name: check}]
"""


@pytest.mark.parametrize("kind", DEFINITIONS)
def test_objects_are_what_their_definition_says(kind: str, cluster: Cluster, tmp_path: Path) -> None:
    module, path = DEFINITIONS[kind]
    definition = str(programs.module_dir("kueue", module) / path)
    folder = written("k", cluster.minor, tmp_path / "k", SPEC.replace("KIND", kind))
    cluster.kubectl("apply", "--server-side", "-f", definition)
    cluster.kubectl("apply", "-f", str(folder / "00-namespace.yaml"))
    try:
        cluster.kubectl("wait", "--for=condition=Established", "-f", definition)
        asked = ("apply", "--dry-run=server", "--validate=strict", "-f", str(folder / "80-workloads.yaml"))
        said = cluster.kubectl(*asked)
        assert said.stderr == ""
        assert len(said.stdout.splitlines()) == 3
    finally:
        cluster.kubectl("delete", "-f", str(folder / "00-namespace.yaml"))
        cluster.kubectl("delete", "-f", definition)
