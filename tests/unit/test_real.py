"""A rendered H100 node beside a real one: every difference is explained, and every explanation is needed."""

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from kwokgen.pipeline import Rendered
from tests.unit.rendering import ROOT, documents, rendered

REAL = ROOT / "tests" / "real"
SPEC = "pools: [{name: h100, count: 1, machine: p5.48xlarge, gpuOperatorLabels: true}]"


def read(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(REAL / name)
    return loaded


def ours(tmp_path: Path) -> Rendered:
    return rendered(tmp_path, SPEC)


def different(real: dict[str, Any], made: dict[str, Any]) -> set[str]:
    return {key for key in real.keys() | made.keys() if real.get(key) != made.get(key)}


def test_labels_of_the_operator(tmp_path: Path) -> None:
    """All labels of NVIDIA's, by name and value."""
    node = documents(ours(tmp_path))["Node", "", "h100-0"]
    made = {key: value for key, value in node["metadata"]["labels"].items() if key.startswith("nvidia.com/")}
    assert different(read("h100.yaml")["labels"], made) == read("h100-differences.yaml")["labels"].keys()


def test_the_slice_and_its_first_device(tmp_path: Path) -> None:
    """Driver, pool, and everything of a device."""
    spec = documents(ours(tmp_path))["ResourceSlice", "", "h100-0-gpu.nvidia.com"]["spec"]
    real = read("h100.yaml")["slice"]
    assert (spec["driver"], spec["pool"]["name"]) == (real["driver"], spec["nodeName"])
    assert {key: spec["pool"][key] for key in real["pool"]} == real["pool"]
    device = spec["devices"][0]
    assert different(flat(real["device"]), flat(device)) == read("h100-differences.yaml")["slice"].keys()


def flat(device: dict[str, Any]) -> dict[str, Any]:
    parts = {
        f"{section}.{name}": value for section in ("attributes", "capacity") for name, value in device[section].items()
    }
    return parts | {key: value for key, value in device.items() if key not in {"attributes", "capacity"}}


def test_labels_and_attributes_say_the_same(tmp_path: Path) -> None:
    """What the operator's labels and the driver's slice both tell of a node never disagrees, whatever the model."""
    for machine in ("p5.48xlarge", "p4d.24xlarge", "g6e.48xlarge", "dgx-b200", "gb200-nvl72-tray", "p5en.48xlarge"):
        done = rendered(tmp_path, SPEC.replace("p5.48xlarge", machine))
        labels = documents(done)["Node", "", "h100-0"]["metadata"]["labels"]
        (one,) = [spec for (kind, _, _), spec in documents(done).items() if kind == "ResourceSlice"]
        attributes = one["spec"]["devices"][0]["attributes"]
        assert labels["nvidia.com/gpu.product"] == attributes["productName"]["string"].replace(" ", "-")
        assert labels["nvidia.com/gpu.family"] == attributes["architecture"]["string"].lower().replace(" ", "-")
        compute = attributes["cudaComputeCapability"]["version"].split(".")
        assert [labels[f"nvidia.com/gpu.compute.{part}"] for part in ("major", "minor")] == compute[:2]
        driver = attributes["driverVersion"]["version"].split(".")
        full = labels["nvidia.com/cuda.driver-version.full"].split(".")
        assert [int(part) for part in full] == [int(part) for part in driver]
        assert labels["nvidia.com/gpu.count"] == str(len(one["spec"]["devices"]))
        memory = one["spec"]["devices"][0]["capacity"]["memory"]["value"]
        assert labels["nvidia.com/gpu.memory"] == mebibytes(memory)


def test_labels_follow_what_a_blueprint_writes(tmp_path: Path) -> None:
    """Another name, version and size of the devices are told by the labels as well."""
    own = "{attributes: {productName: NVIDIA H100 PCIe, driverVersion: {version: 570.1.2}}, capacity: {memory: 80Gi}}"
    node = documents(rendered(tmp_path, SPEC.replace("gpuOperator", f"gpus: {own}, gpuOperator")))["Node", "", "h100-0"]
    labels = node["metadata"]["labels"]
    assert labels["nvidia.com/gpu.product"] == "NVIDIA-H100-PCIe"
    assert labels["nvidia.com/gpu.memory"] == "81920"
    version = "nvidia.com/cuda.driver-version."
    assert {labels[f"{version}{part}"] for part in ("major", "minor", "revision", "full")} == {
        "570",
        "1",
        "2",
        "570.1.2",
    }


def mebibytes(text: str) -> str:
    found = re.fullmatch(r"(\d+)(Mi|Gi)", text)
    assert found
    return str(int(found[1]) * {"Mi": 1, "Gi": 1024}[found[2]])
