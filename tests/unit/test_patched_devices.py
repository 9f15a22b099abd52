"""Every value of every DRA object replaced by a patch: the object may be so, or there is a problem at the patch."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import pytest

from kwokgen import patches, pipeline, resources, tree
from kwokgen.catalog import Catalog
from kwokgen.model.cluster import Cluster, Patch
from kwokgen.model.place import Place
from kwokgen.problem import errors
from kwokgen.series import Series, filled, one
from kwokgen.verify import verify
from tests.unit.rendering import BLUEPRINTS, blueprint

KINDS = ("ResourceSlice", "ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "DeviceTaintRule")
WRONG: tuple[Any, ...] = (None, "x", 1, [], {})
DEEPEST = 6
RULE = """
pools: [{name: a, count: 1, machine: {cpu: 1}, gpus: {driver: gpu.example.com, count: 1}}]
deviceTaintRules:
- {name: r, driver: gpu.example.com, pool: a, node: 0, device: gpu-0, key: example.com/x, value: y, effect: NoExecute}
"""
Path = tuple[str | int, ...]


class Case(NamedTuple):
    """A value that a patch replaces, in an object of a bundle."""

    cluster: Cluster
    series: Series
    document: dict[str, Any]


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """The DRA objects of every example and of a rule, small ones first."""
    own = tmp_path_factory.mktemp("own") / "rule.yaml"
    own.write_text(blueprint(RULE), encoding="utf-8")
    found = [case for file in (own, *sorted(BLUEPRINTS.glob("dra-*.yaml"))) for case in read(file)]
    return sorted(found, key=lambda case: len(str(case.document)))


def read(file: pathlib.Path) -> Iterator[Case]:
    """The DRA objects of a blueprint."""
    node, _ = pipeline.read(str(file), [], [])
    cluster, _ = pipeline.understand(node, Catalog())
    for series in resources.build(cluster):
        for run in series.runs:
            for document in run.shape.documents:
                if document["kind"] in KINDS:
                    row = short(filled(document, series.columns, 0))
                    yield Case(cluster, one(row, file=series.file, at=series.at, by=series.by, pool=series.pool), row)


def short(value: Any) -> Any:
    """A value with the first item of each list, which stands for all."""
    if isinstance(value, dict):
        return {key: short(below) for key, below in value.items()}
    return [short(below) for below in value[:1]] if isinstance(value, list) else value


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Of every value below."""
    steps: Any = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for step in steps if len(path) < DEEPEST else ():
        yield (*path, step)
        yield from paths(value[step], (*path, step))


def cases(kind: str, objects: list[Case]) -> dict[Path, Case]:
    """Every path of a kind with the smallest object that has it."""
    done: dict[Path, Case] = {}
    for case in objects:
        if case.document["kind"] == kind:
            for path in paths(case.document):
                done.setdefault(path, case)
    return done


def merge(value: Any, path: Path, other: Any) -> Any:
    """The merge patch that replaces what a path of `value` leads to: mappings by key, a list by its first item."""
    if not path:
        return other
    below = merge(value[path[0]], path[1:], other)
    if isinstance(value, dict):
        return {path[0]: below}
    return [merged_whole(value[0], below)]


def merged_whole(value: Any, patch: Any) -> Any:
    """An item of a list with one part replaced, a null kept."""
    if not isinstance(value, dict) or not isinstance(patch, dict) or not patch:
        return patch
    done = deepcopy(value)
    for key, below in patch.items():
        done[key] = merged_whole(value[key], below)
    return done


def patched(case: Case, path: Path, other: Any) -> None:
    """The object with a patch of one value: what is wrong with it is said at the patch."""
    merging = merge(case.document, path, other)
    kind = case.document["kind"]
    at = Place(tree.parse(json.dumps({"target": {"kind": kind}, "merge": merging}), "patch"))
    patch = Patch(kind, None, None, {}, None, merging, at)
    cluster = case.cluster._replace(patches=(patch,))
    series, problems = patches.patched((case.series,), cluster.patches)
    found = problems or errors(verify(cluster, series))
    assert {problem.pos.file for problem in found} <= {"patch"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_patch_of_any_value_of_a_dra_object_is_right_or_has_a_problem(kind: str, objects: list[Case]) -> None:
    """Null, a text, a number, a list and a mapping, in place of each value down to the sixth key."""
    found = cases(kind, objects)
    assert len(found) > 5
    for path, case in found.items():
        for other in WRONG:
            patched(case, path, other)
