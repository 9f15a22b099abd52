"""What kwokgen accepts, the API server accepts: small blueprints, drawn, in one dry run a dozen."""

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st

from kwokgen.pipeline import render
from kwokgen.problem import KwokgenError
from testbed import programs, running
from testbed.cluster import Cluster

pytestmark = pytest.mark.live

A_RUN = 12
"""Blueprints of one `kubectl apply`: most of its time is its start."""
RUNS = 15
MORE = 10_000
"""Blueprints over all minors, with --matrix: those of one are a share, so that runs of one minor each add up to them."""

words = st.from_regex(r"[a-z]([a-z0-9-]{0,12}[a-z0-9])?", fullmatch=True)
nasty = st.sampled_from(
    ["y", "n", "null", "true", "no", "0", "1e3", "0x10", "017", "a.b", "-", "A", "x" * 63, "a_b", ""]
)
names = st.one_of(words, st.sampled_from(["y", "n", "null", "true", "no", "e1", "x" * 40, "x" * 61]))
values = st.one_of(words, nasty)
keys = st.one_of(words, st.sampled_from(["example.com/a", "a.b/c_d", "y", "x" * 63, "nvidia.com/gpu.product"]))
labels = st.dictionaries(keys, values, max_size=3)
amounts = st.one_of(
    st.sampled_from(
        ["1", "0", "500m", "1.5", "64Gi", "1e3", "1E3", "0.1", "1k", "1n", "8Ei", "100T", "1.5Gi", "12e-1"]
    ),
    st.integers(0, 2**40).map(str),
    st.decimals(0, 1000, places=3).map(str),
    st.integers(0, 500),
    st.floats(0, 100, allow_nan=False).map(lambda number: round(number, 4)),
)
resources = st.fixed_dictionaries(
    {}, optional={"cpu": amounts, "memory": amounts, "example.com/nic": st.integers(0, 9)}
)
own_machines = st.fixed_dictionaries(
    {"cpu": amounts}, optional={"memory": amounts, "pods": st.integers(1, 200), "example.com/nic": st.integers(0, 9)}
)
attributes = st.dictionaries(
    st.one_of(st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,10}", fullmatch=True), st.sampled_from(["example.com/a", "y"])),
    st.one_of(
        values,
        st.integers(-(2**63), 2**63 - 1),
        st.booleans(),
        st.just({"version": "1.2.3"}),
        st.just({"version": "1.2.3-rc.1+b"}),
        st.just({"strings": ["y", "b"]}),
        st.just({"ints": [1]}),
        st.just({"versions": ["1.2.3"]}),
    ),
    max_size=4,
)
own_gpus = st.fixed_dictionaries(
    {"driver": st.sampled_from(["gpu.example.com", "a", "x-y.example.com"]), "count": st.integers(1, 130)},
    optional={
        "attributes": attributes,
        "capacity": st.dictionaries(st.sampled_from(["memory", "example.com/cores", "y"]), amounts, max_size=2),
        "deviceName": st.sampled_from(["d{index}", "gpu-{index}-x", "{index}"]),
        "resource": st.just("example.com/gpu"),
    },
)
small = st.sampled_from(["1", "2", "500m", "1Gi", "2Gi", "1.5Gi", "3G", "1k", "0"])
policies = st.one_of(
    st.fixed_dictionaries({"min": small}, optional={"max": small, "step": small, "default": small}),
    st.fixed_dictionaries({"values": st.lists(small, min_size=1, max_size=3)}, optional={"default": small}),
)
indexes = st.lists(st.sampled_from([0, 1, "0-1", "1-2"]), min_size=1, max_size=2)
device_taints = st.lists(
    st.fixed_dictionaries(
        {"key": keys, "effect": st.sampled_from(["NoSchedule", "NoExecute", "None"])},
        optional={"value": values, "nodes": indexes, "devices": indexes},
    ),
    max_size=6,
)
missing = st.lists(st.fixed_dictionaries({"devices": indexes}, optional={"nodes": indexes}), max_size=1)
ailing = {"taints": device_taints, "missing": missing, "pcieRoots": st.integers(1, 20)}
shared_gpus = st.fixed_dictionaries(
    {
        "driver": st.just("gpu.example.com"), "count": st.integers(1, 4), "capacity": st.just({"memory": "8Gi", "y": 4}),
        "sharing": st.fixed_dictionaries(
            {"by": st.just("capacity"), "capacity": st.dictionaries(st.sampled_from(["memory", "y"]), policies, min_size=1)}
        ),
    },
    optional=ailing,
)  # fmt: skip
profiles = st.fixed_dictionaries(
    {"name": names, "size": st.integers(1, 4)},
    optional={"capacity": st.dictionaries(st.sampled_from(["memory", "copyEngines", "a.b/c_d"]), small, min_size=1)},
)
tables = st.fixed_dictionaries({"slices": st.integers(1, 16), "profiles": st.lists(profiles, min_size=1, max_size=3)})
cut_gpus = st.fixed_dictionaries(
    {
        "driver": st.just("a"), "count": st.integers(1, 10),
        "partitions": st.fixed_dictionaries({"mode": st.just("dynamic"), "table": tables}),
    },
    optional=ailing,
)  # fmt: skip
cards = st.fixed_dictionaries(
    {"driver": st.sampled_from(["nic.example.com", "compute-domain.nvidia.com"])},
    optional={"count": st.integers(1, 3), "attributes": attributes, **ailing},
)
taints = st.lists(
    st.fixed_dictionaries(
        {"key": keys, "effect": st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"])},
        optional={"value": values},
    ),
    max_size=2,
)
machines = st.one_of(
    st.fixed_dictionaries(
        {"machine": st.sampled_from(["p5.48xlarge", "m7i.24xlarge", "dgx-a100", "g6e.48xlarge"])},
        optional={
            "capacity": resources,
            "gpuOperatorLabels": st.booleans(),
            "expose": st.sampled_from(["dra", "extended-resource"]),
            "numa": st.fixed_dictionaries({"zones": st.integers(1, 4)}),
        },
    ),
    st.fixed_dictionaries(
        {"machine": own_machines, "gpus": own_gpus | shared_gpus | cut_gpus},
        optional={
            "arch": st.sampled_from(["amd64", "arm64"]),
            "numa": st.fixed_dictionaries({"zones": st.integers(1, 4)}),
        },
    ),
    st.fixed_dictionaries({"machine": own_machines}),
)
pools = st.tuples(
    machines,
    st.fixed_dictionaries(
        {"name": names, "count": st.integers(1, 3)},
        optional={
            "labels": labels, "annotations": labels, "taints": taints, "fakeTaint": st.booleans(),
            "devices": st.lists(cards, max_size=1),
            "nodeName": st.sampled_from(["n{index}", "{index}", "a.b-{index}", "y{index}"]),
        },
    ),
).map(lambda parts: parts[0] | parts[1])  # fmt: skip
tolerations = st.one_of(
    st.just({"operator": "Exists"}),
    st.fixed_dictionaries(
        {"operator": st.just("Exists"), "effect": st.just("NoExecute")},
        optional={"key": keys, "tolerationSeconds": st.integers(0, 99)},
    ),
    st.fixed_dictionaries(
        {"operator": st.just("Equal"), "key": keys},
        optional={"value": values, "effect": st.sampled_from(["NoSchedule", "None"])},
    ),
)
requests = st.tuples(
    st.sampled_from([{}, {"count": 1}, {"count": 8}, {"allocationMode": "All"}]),
    st.fixed_dictionaries(
        {"deviceClassName": st.sampled_from(["own", "others.example.com"])},
        optional={
            "name": names, "selectors": st.just(["device.driver != ''"]),
            "capacity": st.dictionaries(st.sampled_from(["memory", "y", "a.b/c"]), amounts, min_size=1, max_size=2),
            "tolerations": st.lists(tolerations, min_size=1, max_size=2),
        },
    ),
).map(lambda parts: parts[0] | parts[1])  # fmt: skip
several = st.fixed_dictionaries(
    {"firstAvailable": st.lists(requests, min_size=1, max_size=3)}, optional={"name": names}
)
constraints = st.lists(
    st.one_of(
        st.fixed_dictionaries({"matchAttribute": st.sampled_from(["resource.kubernetes.io/pcieRoot", "a/y", "rail"])}),
        st.just({"distinctAttribute": "a/y"}),
        st.just({"distinctAttribute": "a/y", "requests": ["request-0"]}),
    ),
    min_size=1,
    max_size=2,
)
config = st.lists(
    st.fixed_dictionaries(
        {"driver": st.sampled_from(["a", "gpu.example.com"]), "parameters": st.just({"y": "n", "count": 1})},
        optional={"requests": st.just(["request-0"])},
    ),
    min_size=1, max_size=2,
)  # fmt: skip
claims = st.fixed_dictionaries(
    {"name": st.just("c"), "requests": st.lists(requests | several, min_size=1, max_size=2)},
    optional={"shared": st.booleans(), "constraints": constraints, "config": config},
)
more_claims = st.fixed_dictionaries(
    {"name": st.one_of(names, st.just("a.b")), "requests": st.lists(requests, min_size=1, max_size=1)}
)
container = {"image": values, "command": st.lists(st.text(max_size=5), max_size=2), "resources": resources}
of_all_kinds = {
    "count": st.integers(1, 2), "claims": st.just(["c"]), "labels": labels, "annotations": labels,
    "container": st.fixed_dictionaries({}, optional={"name": names} | container),
    "initContainers": st.lists(st.fixed_dictionaries({"name": names}, optional=container), max_size=1),
}  # fmt: skip
runs = st.sampled_from(["5s", "1h30m", {"min": "1s", "max": "2s"}])
jobs = st.fixed_dictionaries(
    {"name": names, "kind": st.just("job"), "pods": st.integers(3, 5)},
    optional=of_all_kinds | {
        "parallelism": st.integers(1, 3), "restartPolicy": st.sampled_from(["Never", "OnFailure"]),
        "suspend": st.booleans(), "run": runs,
    },
)  # fmt: skip
plain_pods = st.fixed_dictionaries(
    {"name": names, "kind": st.just("pods"), "pods": st.integers(1, 3), "run": runs},
    optional=of_all_kinds | {"restartPolicy": st.sampled_from(["Never", "OnFailure"])},
)
servers = st.fixed_dictionaries(
    {"name": names, "kind": st.just("deployment"), "pods": st.integers(1, 3)}, optional=of_all_kinds
)
workloads = jobs | plain_pods | servers
classes = [{"name": "own", "selectors": ["device.driver == 'a'"]}, {"name": "others.example.com", "create": False}]
specs = st.fixed_dictionaries(
    {
        "pools": st.lists(pools, min_size=1, max_size=2),
        "deviceClasses": st.just(classes),
        "claims": st.tuples(claims).map(list) | st.tuples(claims, more_claims).map(list),
        "workloads": st.lists(workloads, max_size=2),
    },
    optional={
        "controller": st.fixed_dictionaries({}, optional={"shards": st.integers(1, 3), "run": st.just("outside")}),
        "seed": st.integers(0, 2**63 - 1),
        "networkDevices": st.lists(
            st.fixed_dictionaries(
                {
                    "name": names,
                    "driver": st.just("fabric.example.com"),
                    "count": st.integers(1, 130),
                    "nodes": st.just("all") | st.fixed_dictionaries({"labels": labels}),
                },
                optional={"attributes": attributes},
            ),
            max_size=1,
        ),
        "deviceTaintRules": st.lists(
            st.fixed_dictionaries(
                {"name": names, "driver": st.just("a"), "key": keys, "effect": st.sampled_from(["NoSchedule", "None"])},
                optional={"value": values, "device": words},
            ),
            max_size=1,
        ),
    },
)


def test_what_kwokgen_accepts_the_server_accepts(gated: Cluster, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """A refusal names its blueprint; keep what is left of it, once it is small, as a file under tests/problems/."""
    cluster = gated
    for number in range(A_RUN):
        for namespace in (f"b{number}", f"kwok-b{number}"):
            cluster.kubectl("create", "namespace", namespace, "--save-config")
    taken = Taken(cluster, tmp_path)
    runs = MORE // (A_RUN * len(programs.minors())) + 1 if pytestconfig.getoption("--matrix") else RUNS
    try:
        settings(
            max_examples=runs, deadline=None, database=None, derandomize=runs == RUNS,
            suppress_health_check=list(HealthCheck), phases=[Phase.generate], verbosity=Verbosity.quiet,
        )(given(st.lists(specs, min_size=A_RUN, max_size=A_RUN))(taken.all))()  # fmt: skip
    finally:
        names = [f"{kind}b{number}" for number in range(A_RUN) for kind in ("", "kwok-")]
        cluster.kubectl("delete", "namespaces", *names, "--wait=false")
    assert taken.accepted > A_RUN * runs // 10, "too little of what is drawn is right"


class Taken:
    """Dry runs of blueprints, as one stream."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.file, self.accepted = cluster, folder / "b.yaml", 0

    def all(self, drawn: list[dict[str, Any]]) -> None:
        """Hypothesis would shrink twelve blueprints at once: which one it is, is found here."""
        streams = [self.rendered(f"b{number}", spec) for number, spec in enumerate(drawn)]
        self.accepted += len(list(filter(None, streams)))
        if self.refused("".join(streams)):
            refused = [(self.refused(stream), spec) for stream, spec in zip(streams, drawn, strict=True) if stream]
            pytest.fail("\n".join(f"{why}{json.dumps(spec)}" for why, spec in refused if why))

    def refused(self, stream: str) -> str:
        """What the server says against a stream; empty when it takes all of it."""
        if not stream:
            return ""
        # The namespaces are there already.
        arguments = ("apply", "--dry-run=server", "--validate=strict", running.QUICKLY, "-f", "-")
        done = self.cluster.kubectl(*arguments, stdin=stream, check=False)
        said = without_known(done.stderr)
        return said or (f"exit {done.returncode}\n" if done.returncode else "")

    def rendered(self, name: str, spec: dict[str, Any]) -> str:
        """The stream of a blueprint that kwokgen accepts, else nothing; both warn of fractions of a byte."""
        whole = {"apiVersion": "kwokgen.io/v1alpha1", "kind": "Blueprint", "metadata": {"name": name}}
        self.file.write_text(json.dumps({**whole, "spec": {"kubernetes": self.cluster.minor, **spec}}))
        with suppress(KwokgenError):
            done = render(str(self.file))
            if "quantity-unit" not in {problem.code for problem in done.warnings}:
                return b"".join(done.bundle().stream()).decode()
        return ""


def without_known(stderr: str) -> str:
    """What the server says, without the warning about names of pods that is right for jobs of dotted names."""
    return re.sub(r"^Warning: metadata\.name: this is used in Pod names.*\n", "", stderr, flags=re.MULTILINE)
