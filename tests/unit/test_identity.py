"""Identity never moves: the vectors here are clusters of people, which a change of these values would rename."""

from __future__ import annotations

from pathlib import Path

import pytest

from kwokgen.catalog import Catalog
from kwokgen.draw import between, draw
from kwokgen.pipeline import render
from kwokgen.sink import to_folder
from tests.unit.rendering import Key, blueprint, documents, objects, rendered

VECTORS = """
    seed: 7
    controller: {shards: 2}
    pools:
    - {name: h100, count: 62, machine: p5.48xlarge}
    - {name: gb200, count: 301, machine: gb200-nvl72-tray}
    - name: own
      count: 12
      nodeName: "x-{index:06d}"
      machine: {cpu: 1}
      addresses: 172.20.0.0/24
      gpus: {driver: gpu.example.com, count: 130, deviceName: "card{index}"}
    workloads:
    - {name: ddp, kind: job, count: 4, run: {min: 5s, max: 15s}}
    - {name: fixed, kind: job, run: 1500ms}
    """
FIXED = ("Node", "ResourceSlice")


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> dict[Key, dict]:
    """Every object of a cluster whose identity is written out below."""
    return documents(rendered(tmp_path_factory.mktemp("vectors"), VECTORS, name="vectors"))


def _names(found: dict[Key, dict], kind: str) -> list[str]:
    return [name for known, _, name in found if known == kind]


def _attribute(vectors: dict[Key, dict], slice_name: str, device: int, attribute: str) -> object:
    return vectors["ResourceSlice", "", slice_name]["spec"]["devices"][device]["attributes"][attribute]


def test_nodes_are_called_by_pool_and_index(vectors: dict[Key, dict]) -> None:
    """Nodes are <pool>-<index> from 0 without padding, or what nodeName makes of the index."""
    expected = [f"h100-{i}" for i in range(62)] + [f"gb200-{i}" for i in range(301)]
    expected += ["x-000000", "x-000001", "x-000002", "x-000003", "x-000004", "x-000005"]
    expected += ["x-000006", "x-000007", "x-000008", "x-000009", "x-000010", "x-000011"]
    assert sorted(expected) == sorted(_names(vectors, "Node"))


def test_slices_are_called_by_node_and_driver(vectors: dict[Key, dict]) -> None:
    """The first slice of a node is <node>-<driver>, the next one has -1 behind it; the pool is the node."""
    names = _names(vectors, "ResourceSlice")
    assert {"h100-0-gpu.nvidia.com", "gb200-300-gpu.nvidia.com"} <= set(names)
    assert [name for name in names if "x-000003" in name] == ["x-000003-gpu.example.com", "x-000003-gpu.example.com-1"]
    for name in ("x-000003-gpu.example.com", "x-000003-gpu.example.com-1"):
        spec = vectors["ResourceSlice", "", name]["spec"]
        expected = {"name": "x-000003", "generation": 1, "resourceSliceCount": 2}
        assert (expected, "x-000003") == (spec["pool"], spec["nodeName"])


def test_devices_are_called_by_index(vectors: dict[Key, dict]) -> None:
    """Devices are gpu-<i>, or what deviceName makes of the index, which runs on in the second slice."""
    slices = ("h100-61-gpu.nvidia.com", "x-000003-gpu.example.com", "x-000003-gpu.example.com-1")
    first, second, third = (
        [device["name"] for device in vectors["ResourceSlice", "", name]["spec"]["devices"]] for name in slices
    )
    assert first == ["gpu-0", "gpu-1", "gpu-2", "gpu-3", "gpu-4", "gpu-5", "gpu-6", "gpu-7"]
    assert [f"card{i}" for i in range(128)] == second
    assert third == ["card128", "card129"]


def test_jobs_are_called_by_workload_and_index(vectors: dict[Key, dict]) -> None:
    """Jobs are <workload>-<index> from 0."""
    assert _names(vectors, "Job") == ["ddp-0", "ddp-1", "ddp-2", "ddp-3", "fixed-0"]


def test_what_kwokgen_invents_is_called_by_the_blueprint(vectors: dict[Key, dict]) -> None:
    """Controllers are kwok-<blueprint>, the second of them with -1; the namespaces likewise."""
    assert _names(vectors, "Deployment") == ["kwok-vectors", "kwok-vectors-1"]
    assert _names(vectors, "Namespace") == ["vectors", "kwok-vectors"]


@pytest.mark.parametrize(
    ("slice_name", "device", "expected"),
    [
        ("h100-0-gpu.nvidia.com", 0, "GPU-7cb17180-564f-c268-23bf-000000000000"),
        ("h100-0-gpu.nvidia.com", 7, "GPU-7cb17180-564f-c268-23bf-000000000007"),
        ("h100-61-gpu.nvidia.com", 3, "GPU-7cb17180-564f-c268-23bf-0000003d0003"),
        ("gb200-300-gpu.nvidia.com", 1, "GPU-5a901e9e-12aa-2d86-385c-0000012c0001"),
    ],
)
def test_uuids(vectors: dict[Key, dict], slice_name: str, device: int, expected: str) -> None:
    """A UUID is a digest of blueprint and pool, then the node's index, then the device's."""
    assert {"string": expected} == _attribute(vectors, slice_name, device, "uuid")


SECOND_DRIVER = """
summary: A second driver of the nodes whose uuids begin as NVIDIA's
source: none
checked: "2026-11-28"
confidence: unverified
classes: [{name: other.example.com, selectors: ["device.driver == 'other.example.com'"]}]
uuid: {attribute: uuid, prefix: "GPU-"}
"""


def test_two_drivers_of_a_node_share_no_uuid(tmp_path: Path) -> None:
    """A UUID beside the GPUs is a digest of the driver as well; that of a GPU is what it was."""
    folder = tmp_path / "catalog" / "drivers"
    folder.mkdir(parents=True)
    (folder / "other.example.com.yaml").write_text(SECOND_DRIVER, encoding="utf-8")
    pool = "{name: h100, count: 1, machine: p5.48xlarge, devices: [{driver: other.example.com, count: 8}]}"
    file = tmp_path / "vectors.yaml"
    file.write_text(blueprint(f"pools: [{pool}]", "vectors"), encoding="utf-8")
    found = documents(render(str(file), catalog=Catalog.of([str(tmp_path / "catalog")])))
    drivers = ("gpu.nvidia.com", "other.example.com")
    uuids = [_attribute(found, f"h100-0-{driver}", index, "uuid") for driver in drivers for index in range(8)]
    assert uuids[0] == {"string": "GPU-7cb17180-564f-c268-23bf-000000000000"}
    assert len({str(uuid) for uuid in uuids}) == len(uuids)


def test_pci_addresses(vectors: dict[Key, dict]) -> None:
    """PCI addresses and roots are the machine's own."""
    first = _attribute(vectors, "h100-9-gpu.nvidia.com", 0, "resource.kubernetes.io/pciBusID")
    last = _attribute(vectors, "h100-9-gpu.nvidia.com", 7, "resource.kubernetes.io/pcieRoot")
    assert (first, last) == ({"string": "0000:53:00.0"}, {"string": "pci0000:bb"})


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("h100-0", "10.128.0.0"),
        ("h100-61", "10.128.0.61"),
        ("gb200-0", "10.130.0.0"),
        ("gb200-300", "10.130.1.44"),
        ("x-000000", "172.20.0.0"),
        ("x-000011", "172.20.0.11"),
    ],
)
def test_addresses(vectors: dict[Key, dict], node: str, expected: str) -> None:
    """Pool k owns 2^17 addresses of 10.128.0.0/9 from k·2^17 on, or its own network."""
    assert [
        {"type": "InternalIP", "address": expected},
        {"type": "Hostname", "address": node},
    ] == vectors["Node", "", node]["status"]["addresses"]


@pytest.mark.parametrize(
    ("node", "expected"), [("h100-0", "0"), ("h100-59", "59"), ("h100-60", "0"), ("h100-61", "1"), ("x-000011", "11")]
)
def test_shard_values(vectors: dict[Key, dict], node: str, expected: str) -> None:
    """The shard label is the index modulo 60."""
    assert expected == vectors["Node", "", node]["metadata"]["labels"]["kwokgen.io/shard"]


@pytest.mark.parametrize(
    ("seed", "what", "name", "expected"),
    [
        (1, "run", "train-0", 1407821912833810851),
        (7, "run", "train-0", 18133752235042039249),
        (0, "run", "é-1", 10149481781532195141),
        (1, "fault", "train-0", 13525006784877745509),
    ],
)
def test_draws(seed: int, what: str, name: str, expected: int) -> None:
    """A draw is blake2b of seed, what and name as a big-endian integer."""
    assert expected == draw(seed, what, name)


def test_draws_between_keep_both_ends() -> None:
    """Each whole number of a range is drawn, its ends included."""
    assert {5, 6, 7} == {between(1, "run", f"n-{index}", 5, 7) for index in range(100)}
    assert between(1, "run", "n", 4, 4) == 4


def test_run_times_of_a_seed(vectors: dict[Key, dict]) -> None:
    """A job's drawn run time is whole milliseconds, said in seconds."""
    jobs = [vectors["Job", "vectors", name] for name in _names(vectors, "Job")]
    found = [job["spec"]["template"]["metadata"]["annotations"]["kwokgen.io/run-seconds"] for job in jobs]
    assert found == ["10.134", "12.257", "8.918", "11.797", "1.5"]


GROWN = """
    pools:
    - {name: a, count: 4, machine: p5.48xlarge}
    - {name: b, count: 3, machine: p4d.24xlarge}
    workloads: [{name: w, kind: job, count: 3, run: {min: 1s, max: 9s}}]
    """


def _unchanged(folder: Path, before: tuple[str, ...], after: tuple[str, ...], spec: str = GROWN) -> tuple[int, int]:
    """How many Nodes and slices there were and are; none of the first differs in a byte among the second."""
    old, new = (objects(rendered(folder, spec, *sets), *FIXED) for sets in (before, after))
    assert [name for name, text in old.items() if new.get(name) != text] == []
    return len(old), len(new)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("pools.a.count=4",), ("pools.a.count=5",), (14, 16)),
        ((), ("workloads.w.count=9",), (14, 14)),
        ((), ("controller.shards=3",), (14, 14)),
        (("controller.shards=2",), ("controller.shards=7",), (14, 14)),
        (("seed=1",), ("seed=2",), (14, 14)),
    ],
)
def test_growing_changes_nothing_that_exists(
    tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...], expected: tuple[int, int]
) -> None:
    """A larger pool, other workloads, other controllers or another seed leave every Node and slice as it was."""
    assert expected == _unchanged(tmp_path, before, after)


@pytest.mark.slow
def test_growing_into_a_second_shard_changes_no_node(tmp_path: Path) -> None:
    """From 4,999 nodes to 5,001 a second controller joins; the nodes do not notice."""
    assert _unchanged(tmp_path, ("pools.a.count=4999",), ("pools.a.count=5001",)) == (2 * 5002, 2 * 5004)
    controllers = [
        len(objects(rendered(tmp_path, GROWN, f"pools.a.count={count}"), "Deployment")) for count in (4997, 4998)
    ]
    assert controllers == [1, 2]


def test_adding_a_pool_behind_changes_nothing_that_exists(tmp_path: Path) -> None:
    """The addresses and UUIDs of pools follow from what stands before them, and not from its size."""
    added = GROWN.replace("workloads:", "- {name: c, count: 2, machine: dgx-h100}\n    workloads:")
    old, new = (objects(rendered(tmp_path, spec), *FIXED) for spec in (GROWN, added))
    assert [name for name, text in old.items() if new[name] != text] == []
    assert {("Node", "", "c-0"), ("Node", "", "c-1")} == {name for name in new.keys() - old.keys() if name[0] == "Node"}


@pytest.mark.slow
def test_growing_a_large_pool_touches_two_files(tmp_path: Path) -> None:
    """From 10,000 nodes to 10,001, one file of nodes and one of slices are new, and no other is written."""
    spec = "pools: [{name: a, count: 10000, machine: p5.48xlarge}]"
    bundle = tmp_path / "bundle"
    to_folder(rendered(tmp_path, spec).bundle(), bundle)
    done = to_folder(rendered(tmp_path, spec, "pools.a.count=10001").bundle(), bundle)
    assert [path for path in done.changed if path[:2] in ("40", "50")] == [
        "40-nodes-a.0004.yaml",
        "50-slices-a.0004.yaml",
    ]
    assert done.removed == ()
