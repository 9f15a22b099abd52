"""Fixtures of the tests that need a real control plane: `cluster`, one a minor for the whole session, and `applied`."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Protocol

import pytest

from kwokgen.catalog import Catalog, entries
from kwokgen.model.target import Kubernetes
from kwokgen.problem import Pos
from testbed import removing
from testbed.bundle import Bundle
from testbed.cluster import Cluster
from testbed.running import Taking

LONGEST = (
    "kinds", "ways", "bundles", "accepted", "faults", "dra", "playing",
    "queue_systems", "controllers", "changing", "queues", "sequences", "talk",
)  # fmt: skip
"""Files that begin first, so that none of them is left to one worker while the others have nothing more to do."""


class Applied(Protocol):
    """`with applied(folder) as bundle:` applies, runs the controllers, waits for Ready nodes, removes all of it."""

    def __call__(
        self, folder: Path, *, limit: float = ..., ready: bool = ..., take: Taking = ...
    ) -> AbstractContextManager[Bundle]: ...


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    minors = str(metafunc.config.getoption("--minors")).split(",")
    if metafunc.definition.get_closest_marker("newest") and not metafunc.config.getoption("--matrix"):
        minors = minors[-1:]
    for name in {"cluster", "minor"} & set(metafunc.fixturenames):
        metafunc.parametrize(name, minors, indirect=name == "cluster", scope="session")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """After pytest's own order, which keeps the tests of a minor together."""
    first = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: first.get(item.path.stem, len(first)))


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A control plane of each minor, shared by all tests; its logs are kept when one of them failed."""
    failed = request.session.testsfailed
    needs = minor_of(request.param)
    started = Cluster.start(request.param, gates=switched_on(needs.gates), runtime_config=needs.runtime_config)
    yield started
    capturing = request.config.pluginmanager.getplugin("capturemanager")
    with capturing.global_and_fixture_disabled() if capturing else nullcontext():
        started.stop(keep_logs=request.session.testsfailed > failed)


@pytest.fixture(scope="session")
def gated(minor: str) -> Iterator[Cluster]:
    """A control plane of each minor with everything on that any feature of DRA needs."""
    needs = minor_of(minor)
    features = needs.features.values()
    gates = dict.fromkeys((*needs.gates, *(gate for feature in features for gate in feature.gates)))
    configs = dict.fromkeys((*needs.runtime_config, *(one for feature in features for one in feature.runtime_config)))
    with Cluster.start(minor, gates=switched_on(tuple(gates)), runtime_config=tuple(configs)) as started:
        yield started


def minor_of(name: str) -> Kubernetes:
    return entries.kubernetes(Catalog().get("kubernetes", name, Pos("--minors"), "minor"))


def switched_on(gates: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{gate}=true" for gate in gates)


@pytest.fixture
def applied(cluster: Cluster) -> Applied:
    """Bundles for a test, one after another or side by side."""
    return partial(removing.applied, cluster)
