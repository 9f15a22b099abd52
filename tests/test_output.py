"""What is right about every bundle, where a rule says more than the bytes of one; the ids are those of cases.yaml."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes_validate import validate
from kubernetes_validate.utils import SchemaNotFoundError
from ruamel.yaml import YAML

from kwokgen.catalog import Catalog
from kwokgen.pipeline import Rendered, render
from tests.unit.rendering import BLUEPRINTS, ROOT, Key, blueprint, command, content, documents, load, rendered, split

SOURCES = [*sorted(BLUEPRINTS.glob("*.yaml")), *sorted((ROOT / "tests" / "golden").glob("*/blueprint.yaml"))]
ORDER = (
    {"Namespace"},
    {
        *("CustomResourceDefinition", "ServiceAccount", "ConfigMap", "Deployment"),
        *("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    },
    {"TrainingRuntime"},
    {"Stage"},
    {"DeviceClass"},
    {"Node"},
    {"NodeResourceTopology"},
    {"ResourceSlice"},
    {"DeviceTaintRule"},
    {"ResourceClaim", "ResourceClaimTemplate"},
    {
        *("ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Topology", "WorkloadPriorityClass"),
        *("HyperNode", "PriorityClass", "Queue", "ResourceQuota", "queues.yaml"),
    },
    {"PodGroup", "Workload"},
    {
        *("AppWrapper", "Job", "JobSet", "LeaderWorkerSet", "Pod", "PyTorchJob", "RayCluster", "RayJob"),
        *("TrainJob", "servers"),
    },
    {"PodMonitor", "PrometheusRule", "ScrapeConfig", "Service", "dashboard"},
)
OWN = "machine: {cpu: 8}, gpus: {driver: gpu.example.com, count: %d, attributes: {model: h100}}"
EVERY_STAGE = """
    controller: {stages: crd}
    lifecycles: [%s]
    pools: [{name: cpu, count: 1, machine: {cpu: 8}}]
    """


@pytest.fixture(params=SOURCES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def any_bundle(request: pytest.FixtureRequest) -> Rendered:
    """Each example and each golden case."""
    return render(str(request.param))


@pytest.fixture
def stages(tmp_path: Path) -> list[dict[str, Any]]:
    """Every Stage of every lifecycle of the catalogue."""
    known = {sort: Catalog().names(f"stages/{folder}") for sort, folder in (("nodes", "node"), ("pods", "pod"))}
    lives = [
        f"{{name: {sort}-{name}, {sort}: {name}}}" for sort in known for name in known[sort] if "capacity" not in name
    ]
    done = documents(rendered(tmp_path, EVERY_STAGE % ", ".join(lives)), "Stage")
    assert len(done) > len(lives)
    return [stage["spec"] for stage in done.values()]


def texts(stage: dict[str, Any]) -> list[str]:
    """The templates of a Stage."""
    following = stage["next"]
    return [following.get("statusTemplate", ""), *(patch["template"] for patch in following.get("patches", ()))]


def test_no_jitter_is_below_its_delay(stages: list[dict[str, Any]]) -> None:
    """C03: KWOK takes such a jitter instead of the delay."""
    for delay in (stage.get("delay", {}) for stage in stages):
        assert delay.get("jitterDurationMilliseconds", sys.maxsize) >= delay.get("durationMilliseconds", 0)
        assert "" not in delay.values()


def test_only_pending_pods_become_running(stages: list[dict[str, Any]]) -> None:
    """C15: a finished pod that a second Stage starts again never ends."""
    starting = [stage for stage in stages if re.search(r"^phase: Running$", "\n".join(texts(stage)), re.MULTILINE)]
    pods = [stage for stage in starting if stage["resourceRef"]["kind"] == "Pod"]
    assert pods
    for stage in pods:
        phases = [one["values"] for one in stage["selector"]["matchExpressions"] if one["key"] == ".status.phase"]
        assert phases == [["Pending"]]


def test_lists_of_containers_have_their_key_outside_of_the_loop(stages: list[dict[str, Any]]) -> None:
    """C30: a key that is repeated in YAML wins as its last, so that only one container would change."""
    found = [text for stage in stages for text in texts(stage) if "ontainerStatuses:" in text]
    assert found
    for text in found:
        keys = re.findall(r"^ *(\w+ontainerStatuses):\n( *\{\{ range )?", text, re.MULTILINE)
        assert all(loop for _, loop in keys)
        assert text.count("ontainerStatuses:") == len(keys) == len(set(keys))


def test_templates_of_stages_are_literal_blocks(tmp_path: Path) -> None:
    """C13: they are read and reviewed by people, and are not Jinja's."""
    done = rendered(tmp_path, EVERY_STAGE % "{name: a, pods: general}")
    written = next(content(file).decode() for file in done.bundle().files if file.path == "20-stages.yaml")
    assert written.count("emplate: |\n") == len(re.findall(r"emplate:", written))
    assert "{{ $now | Quote }}" in written


def test_files_and_objects_stand_in_the_order_of_applying(any_bundle: Rendered) -> None:
    """C04: kubectl takes files by name and objects as they come, and neither orders nor tries again."""
    files = [file for file in any_bundle.bundle().files if file.applied]
    assert [file.path for file in files] == sorted(file.path for file in files)
    found = [load(text) for file in files for text in split(content(file))]
    kinds = [_sort(each) for each in found]
    ranks = [rank for kind in kinds for rank, group in enumerate(ORDER) if kind in group]
    assert len(ranks) == len(kinds)
    assert ranks == sorted(ranks)


def _sort(each: dict[str, Any]) -> str:
    """Its kind; YuniKorn's queues and a dashboard are files of ConfigMaps, and Deployments are of controllers or of a workload."""
    if "grafana_dashboard" in each["metadata"].get("labels", ()):
        return "dashboard"
    if "queues.yaml" in each.get("data", ()):
        return "queues.yaml"
    selected = each["spec"].get("selector", {}).get("matchLabels", {}) if each["kind"] == "Deployment" else {}
    return "servers" if "kwokgen.io/job" in selected else str(each["kind"])


def test_stages_as_objects_are_waited_for(tmp_path: Path) -> None:
    """C04: `no matches for kind "Stage"`."""
    done = rendered(tmp_path, "controller: {stages: crd}\npools: [{name: cpu, count: 1, machine: {cpu: 8}}]")
    readme = next(content(file).decode() for file in done.bundle().files if file.path == "README.md")
    named = "kubectl wait --for=jsonpath='{.status.acceptedNames.kind}'=Stage crd/stages.kwok.x-k8s.io"
    assert f"{named}\nkubectl wait --for=condition=Established crd/stages.kwok.x-k8s.io" in readme
    first = b"".join(done.bundle("crds").stream())
    assert {load(text)["kind"] for text in split(first)} == {"CustomResourceDefinition"}


def test_every_file_is_whole_documents_of_one_object_each(any_bundle: Rendered) -> None:
    """C42, C45: kustomize refuses an object that is there twice, kubectl lets the second win and refuses empty files."""
    seen: Counter[Key] = Counter()
    for file in any_bundle.bundle().files:
        text = content(file)
        assert text.endswith(b"\n")
        assert not text.endswith(b"\n\n")
        for document in map(load, split(text)) if file.applied else ():
            assert document.keys() >= {"apiVersion", "kind", "metadata"}
            meta = document["metadata"]
            seen[document["kind"], meta.get("namespace", ""), meta["name"]] += 1
    assert set(seen.values()) == {1}


def test_yaml_1_1_and_1_2_read_the_same(any_bundle: Rendered) -> None:
    """C20: kubectl reads the one, other tools read the other."""
    new = YAML(typ="safe", pure=True)
    for file in any_bundle.bundle().files:
        for text in split(content(file))[:3] if file.path.endswith(".yaml") else ():
            assert new.load(text.decode()) == yaml.safe_load(text)


def test_a_device_without_attributes_says_nothing_of_them(tmp_path: Path) -> None:
    """C46: seen on a real API server of 1.37."""
    done = rendered(tmp_path, f"pools: [{{name: a, count: 1, {OWN % 1}}}]".replace(", attributes: {model: h100}", ""))
    ((device,),) = [one["spec"]["devices"] for one in documents(done, "ResourceSlice").values()]
    assert device == {"name": "gpu-0"}


@pytest.mark.parametrize(
    ("minor", "version"), [("1.32", "v1beta1"), ("1.33", "v1beta1"), ("1.34", "v1"), ("1.37", "v1")]
)
def test_dra_is_written_as_the_minor_has_it(tmp_path: Path, minor: str, version: str) -> None:
    """C05: and a second validator, which has the minors' own schemas, takes every object."""
    spec = f"pools: [{{name: a, count: 1, {OWN % 2}}}]\nclaims: [{{name: one, requests: [{{deviceClassName: gpu.example.com}}]}}]"
    found = documents(
        rendered(tmp_path, spec, f'kubernetes="{minor}"'), "DeviceClass", "ResourceSlice", "ResourceClaimTemplate"
    )
    assert {one["apiVersion"] for one in found.values()} == {f"resource.k8s.io/{version}"}
    for one in found.values():
        validate(one, minor, strict=True)
        if minor == "1.34":
            with pytest.raises(SchemaNotFoundError):
                validate(one, "1.33", strict=True)


@pytest.mark.parametrize("spelling", ["v1.34", "1.34.2", "v1.34.0"])
def test_a_minor_may_be_written_as_a_release(tmp_path: Path, spelling: str) -> None:
    """C07: it is the same minor."""
    spec = "pools: [{name: cpu, count: 1, machine: {cpu: 8}}]"
    one, other = (rendered(tmp_path, spec, f'kubernetes="{minor}"').bundle() for minor in ("1.34", spelling))
    assert b"".join(one.stream()) == b"".join(other.stream())


def test_devices_have_what_expressions_of_real_classes_read(tmp_path: Path) -> None:
    """C21: `no such key` ends the allocation of a claim."""
    found = documents(rendered(tmp_path, "pools: [{name: a, count: 1, machine: p5.48xlarge}]"), "ResourceSlice")
    (only,) = found.values()
    for device in only["spec"]["devices"]:
        own = {"type", "uuid", "productName", "brand", "architecture"}
        versions = {"cudaComputeCapability", "cudaDriverVersion", "driverVersion"}
        places = {"resource.kubernetes.io/pciBusID", "resource.kubernetes.io/pcieRoot"}
        assert device["attributes"].keys() >= own | versions | places
        assert device["capacity"].keys() >= {"memory"}


@pytest.mark.parametrize(("devices", "sizes"), [(128, [128]), (129, [128, 1]), (200, [128, 72])])
def test_devices_are_cut_into_slices_of_128(tmp_path: Path, devices: int, sizes: list[int]) -> None:
    """C24: a slice of one pool more than its siblings say makes schedulers wait for it."""
    found = documents(rendered(tmp_path, f"pools: [{{name: a, count: 2, {OWN % devices}}}]"), "ResourceSlice")
    for node in ("a-0", "a-1"):
        slices = [one["spec"] for one in found.values() if one["spec"]["nodeName"] == node]
        assert [len(one["devices"]) for one in slices] == sizes
        assert [one["pool"] for one in slices] == [
            {"name": node, "generation": 1, "resourceSliceCount": len(sizes)}
        ] * len(sizes)
        assert len({device["name"] for one in slices for device in one["devices"]}) == devices


@pytest.mark.parametrize(("devices", "sizes"), [(64, [64]), (200, [64, 64, 64, 8])])
def test_tainted_devices_are_cut_into_slices_of_64(tmp_path: Path, devices: int, sizes: list[int]) -> None:
    """C24: a taint of one device halves what a slice may hold, from 1.35 on, on the nodes that have it."""
    own = (OWN % devices).replace("count:", "taints: [{nodes: [1], devices: [0], key: x, effect: NoSchedule}], count:")
    spec = f"pools: [{{name: a, count: 3, {own}}}]"
    for minor, tainted in (("1.37", sizes), ("1.34", [devices] if devices <= 128 else [128, devices - 128])):
        found = documents(rendered(tmp_path, spec, f"kubernetes='{minor}'"), "ResourceSlice")
        slices = [one["spec"] for one in found.values()]
        assert [len(one["devices"]) for one in slices if one["nodeName"] == "a-1"] == tainted
        assert all(len(one["devices"]) <= 128 for one in slices)
        assert len([one for one in slices if one["nodeName"] == "a-0"]) == (devices + 127) // 128


def test_files_of_slices_stay_small(tmp_path: Path) -> None:
    """What kubectl reads whole before it applies any of it: nodes of 208 devices are several files, each of whole nodes."""
    cut = "machine: p4d.24xlarge, gpus: {partitions: {mode: dynamic}}"
    done = rendered(tmp_path, f"pools: [{{name: a, count: 150, {cut}}}]")
    files = [content(file) for file in done.bundle().files if file.path.startswith("50-")]
    assert len(files) == 3
    assert all(len(text) < 17 * 1024 * 1024 for text in files)
    for text in files:
        names = re.findall(rb"^  nodeName: (.+)$", text, re.MULTILINE)
        assert {names.count(name) for name in names} == {9}


SAME = [{"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"}, {"LC_ALL": "C", "LANG": "C", "HOME": "/"}]


def test_a_blueprint_is_the_same_bytes_anywhere(tmp_path: Path) -> None:
    """C39: and has no path, place or time of the machine in it."""
    text = (BLUEPRINTS / "mixed-pools.yaml").read_bytes()
    found = set()
    for number, env in enumerate(SAME):
        folder = tmp_path / f"folder-{number}"
        folder.mkdir()
        (folder / f"name-{number}.yaml").write_bytes(text)
        found.add(command("render", f"name-{number}.yaml", cwd=folder, env=env).stdout)
    assert len(found) == 1
    assert str(tmp_path).encode() not in found.pop()


def test_one_node_more_is_text_added_and_none_changed(tmp_path: Path) -> None:
    """C39: node 10 does not stand between 1 and 2, and no object of another node changes."""
    spec = f"pools: [{{name: a, count: 10, {OWN % 2}}}]"
    few, more = (b"".join(rendered(tmp_path, spec, *sets).bundle().stream()) for sets in ((), ("pools.a.count=11",)))
    lines = iter(more.splitlines())
    assert all(line in lines for line in few.splitlines())


def test_shards_share_the_nodes_and_nothing_else(tmp_path: Path) -> None:
    """C52: two controllers of one node only wait for each other, and a node of none never becomes Ready."""
    done = documents(rendered(tmp_path, "controller: {shards: 5}\npools: [{name: a, count: 23, machine: {cpu: 8}}]"))
    kinds = Counter(kind for kind, _, _ in done)
    assert (kinds["Deployment"], kinds["ConfigMap"]) == (5, 5)
    configs = [
        load(one["data"]["kwok.yaml"].partition("\n---")[0])
        for (kind, _, _), one in done.items()
        if kind == "ConfigMap"
    ]
    selectors = [config["options"]["manageNodesWithLabelSelector"] for config in configs]
    taken = [value for selector in selectors for value in _values(selector)]
    assert len(set(selectors)) == 5
    assert len(taken) == len(set(taken))
    nodes = [one["metadata"]["labels"]["kwokgen.io/shard"] for (kind, _, _), one in done.items() if kind == "Node"]
    assert set(nodes) <= set(taken)
    assert len({config["options"]["cidr"] for config in configs}) == 5


def _values(selector: str) -> list[str]:
    """The values of the shard label in a selector such as `a=b,kwokgen.io/shard in (1,2)`."""
    match = re.search(r"kwokgen\.io/shard in \(([^)]*)\)|kwokgen\.io/shard=(\S+)", selector)
    assert match, selector
    return (match[1] or match[2]).split(",")


def test_large_objects_are_applied_on_the_servers_side(tmp_path: Path) -> None:
    """C41: client-side apply keeps the object in an annotation of at most 262,144 bytes: `Too long`."""
    attributes = ", ".join(f"a{number}: {'x' * 64}" for number in range(32))
    spec = f"pools: [{{name: a, count: 1, {(OWN % 128).replace('model: h100', attributes)}}}]"
    done = rendered(tmp_path, spec)
    readme = next(content(file).decode() for file in done.bundle().files if file.path == "README.md")
    assert [problem.code for problem in done.warnings] == ["large-object"]
    assert "kubectl apply --server-side -f ." in readme


def test_nothing_to_write_is_said(tmp_path: Path) -> None:
    """C45: kubectl says no more than `no objects passed to apply`."""
    (tmp_path / "t.yaml").write_text(blueprint("pools: [{name: cpu, count: 1, machine: {cpu: 8}}]"), encoding="utf-8")
    done = command("render", "t.yaml", "--only", "crds", cwd=tmp_path)
    assert done.stdout == b""
    assert b"no CRD" in done.stderr
