"""Fixtures of the tests that need a real control plane: `cluster`, one a minor for the whole session, and `applied`."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Protocol

import pytest

from testbed import removing
from testbed.bundle import Bundle
from testbed.cluster import Cluster

MINORS = "1.34,1.37"


class Applied(Protocol):
    """`with applied(folder) as bundle:` applies, runs the controllers, waits for Ready nodes, removes all of it."""

    def __call__(self, folder: Path, *, limit: float = ..., ready: bool = ...) -> AbstractContextManager[Bundle]: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--minors", default=MINORS, help=f"Kubernetes minors of the live tests (default: {MINORS})")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "live: needs a real control plane (minutes)")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name in {"cluster", "minor"} & set(metafunc.fixturenames):
        minors = str(metafunc.config.getoption("--minors", MINORS)).split(",")
        metafunc.parametrize(name, minors, indirect=name == "cluster", scope="session")


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A control plane of each minor, shared by all tests; its logs are kept when one of them failed."""
    failed = request.session.testsfailed
    started = Cluster.start(request.param)
    yield started
    capturing = request.config.pluginmanager.getplugin("capturemanager")
    with capturing.global_and_fixture_disabled() if capturing else nullcontext():
        started.stop(keep_logs=request.session.testsfailed > failed)


@pytest.fixture
def applied(cluster: Cluster) -> Applied:
    """Bundles for a test, one after another or side by side."""
    return partial(removing.applied, cluster)
