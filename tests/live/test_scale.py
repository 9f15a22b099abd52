"""Ten thousand nodes on a real control plane: `make test-scale`."""

import pytest

from bench.live import scale

pytestmark = pytest.mark.live


def test_ten_thousand_nodes_get_ready_and_their_jobs_complete(pytestconfig: pytest.Config) -> None:
    """Files of nodes and slices side by side, as the bundle's README allows."""
    if not pytestconfig.getoption("--scale"):
        pytest.skip("ten minutes and 6 GB: make test-scale")
    scale.measured(4)
