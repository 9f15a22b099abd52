"""Options and fixtures of all tests."""

from __future__ import annotations

import signal

import pytest


def pytest_configure() -> None:
    """Programs that are interrupted by a test would inherit that a shell in the background ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update` writes what is expected instead of comparing with it, `--minors` says where live tests run."""
    parser.addoption("--update", action="store_true", help="write expected files anew; look at the difference")
    parser.addoption(
        "--matrix",
        action="store_true",
        help="all, however long it takes: ten thousand drawn blueprints, every document read by every reader",
    )
    parser.addoption("--scale", action="store_true", help="ten thousand nodes on a real control plane")
    parser.addoption("--minors", default="1.34,1.37", help="Kubernetes minors of the live tests")


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether expected files are written anew."""
    return bool(request.config.getoption("--update"))
