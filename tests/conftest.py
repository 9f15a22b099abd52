"""Options and fixtures of all tests."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update` writes what is expected instead of comparing with it."""
    parser.addoption("--update", action="store_true", help="write expected files anew; look at the difference")


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether expected files are written anew."""
    return bool(request.config.getoption("--update"))
