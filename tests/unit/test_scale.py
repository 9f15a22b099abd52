"""Ten thousand nodes: every one is there once, reads back as it was meant, and stays as it is when more join."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kwokgen.pipeline import Rendered, render
from kwokgen.series import filled
from testbed import programs
from tests.unit.rendering import BLUEPRINTS, content, contents, load, objects, split

pytestmark = pytest.mark.slow


def _many(count: int) -> Rendered:
    return render(str(BLUEPRINTS / "cl2-dra.yaml"), sets=[f"pools.kwok.count={count}"])


@pytest.fixture(scope="module")
def many() -> Rendered:
    """ClusterLoader2's cluster of 10,000 nodes."""
    return _many(10_000)


@pytest.fixture(scope="module")
def texts(many: Rendered) -> list[bytes]:
    """Every document in the order of the stream."""
    return [text for file in many.bundle().files if file.applied for text in split(content(file))]


def _meant(done: Rendered) -> Iterator[dict[str, Any]]:
    """Every document as the model has it, without YAML in between, in the order of the stream."""
    for series in sorted(done.series, key=lambda one: one.file):
        for run in series.runs:
            for index in range(run.first, run.last + 1):
                for document in run.shape.documents:
                    yield filled(document, series.columns, index)


def test_every_node_has_a_slice_of_eight_devices(many: Rendered) -> None:
    """10,000 Nodes, 10,000 slices; all names are distinct, and no object is left out of the numbers."""
    found = objects(many)
    kinds = [kind for kind, _, _ in found]
    assert (kinds.count("Node"), kinds.count("ResourceSlice"), kinds.count("Job")) == (10_000, 10_000, 10)
    assert len(found) == sum(series.document_count for series in many.series)
    slices = {name: text for (kind, _, name), text in found.items() if kind == "ResourceSlice"}
    assert slices.keys() == {f"kwok-node-{index}-cl2-gpu.kwok.x-k8s.io" for index in range(10_000)}
    assert {len(re.findall(rb"^  - name: gpu\d$", text, re.MULTILINE)) for text in slices.values()} == {8}


def test_every_document_is_read_by_yaml_1_1(many: Rendered, texts: list[bytes]) -> None:
    """PyYAML reads all of them as they were meant."""
    wrong = [text for text, meant in zip(texts, _meant(many), strict=True) if load(text) != meant]
    assert wrong == []


def test_every_shape_is_read_by_yaml_1_2(many: Rendered, texts: list[bytes], pytestconfig: pytest.Config) -> None:
    """ruamel.yaml reads one of every shape, which is a text without regard to its digits, and each fiftieth as well.

    All of them take minutes: --matrix.
    """
    every = 1 if pytestconfig.getoption("--matrix") else 50
    seen: set[bytes] = set()
    reader = YAML(typ="safe", pure=True)
    for number, (text, meant) in enumerate(zip(texts, _meant(many), strict=True)):
        shape = re.sub(rb"\d", b"0", text)
        if shape not in seen or number % every == 0:
            assert reader.load(StringIO(text.decode())) == meant
        seen.add(shape)
    assert 20 < len(seen) < 100


def test_a_sample_is_read_by_kubectl(many: Rendered, texts: list[bytes], tmp_path: Path) -> None:
    """The real kubectl has the same idea of each hundredth document, and of what is neither node nor slice."""
    kubectl = programs.path(f"kubernetes-{programs.minors()[-1]}", "kubectl")
    pairs = list(zip(texts, _meant(many), strict=True))
    sample = [*pairs[:20], *pairs[20:-20:100], *pairs[-20:]]
    file = tmp_path / "sample.yaml"
    file.write_bytes(b"".join(b"---\n" + text for text, _ in sample))
    command = [kubectl, "patch", "--local", "-f", file, "--type=merge", "-p", "{}", "-o", "json"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env={"KUBECONFIG": "/dev/null"}).stdout
    assert [meant for _, meant in sample] == list(_json(said))


def _json(text: str) -> Iterator[Any]:
    """Objects that follow one another."""
    decoder, at = json.JSONDecoder(), 0
    text = text.strip()
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
        yield value


def test_every_device_has_a_uuid_of_its_own() -> None:
    """80,000 H100, no two of one name."""
    done = render(str(BLUEPRINTS / "quickstart.yaml"), sets=["pools.h100.count=10000"])
    slices = b"".join(content(file) for file in done.bundle().files if file.path.startswith("50-slices"))
    found = re.findall(rb'string: "(GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"', slices)
    assert (len(found), len(set(found))) == (80_000, 80_000)


@pytest.mark.parametrize(
    ("before", "after", "number"), [(9_999, 10_000, 3), (10_000, 10_001, 4), (10_001, 10_002, 4), (9_000, 10_000, 3)]
)
def test_growth_stays_in_the_last_two_files(before: int, after: int, number: int) -> None:
    """Of the files of nodes and slices, the last of each is written or added; beside them only what counts nodes."""
    old, new = contents(_many(before).bundle()), contents(_many(after).bundle())
    changed = {path for path, data in new.items() if old.get(path) != data}
    assert old.keys() <= new.keys()
    pools = {path for path in changed if path.startswith(("40", "50"))}
    assert pools == {f"40-nodes-kwok.{number:04d}.yaml", f"50-slices-kwok.{number:04d}.yaml"}
    assert changed - pools <= {"10-kwok.yaml", "README.md"}
