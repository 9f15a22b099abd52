"""Ten thousand nodes, and a thousand with slices of partitions, on a real control plane: `make test-scale`."""

import pytest

from bench.live import mig, scale

pytestmark = pytest.mark.live


def test_ten_thousand_nodes_get_ready_and_their_jobs_complete(pytestconfig: pytest.Config) -> None:
    """Files of nodes and slices side by side, as the bundle's README allows."""
    if not pytestconfig.getoption("--scale"):
        pytest.skip("ten minutes and 6 GB: make test-scale")
    scale.measured(4)


def test_a_thousand_nodes_of_gpus_cut_on_demand(pytestconfig: pytest.Config) -> None:
    """Nine slices a node, and 500 claims that all find their place; rendered at no more than six times the cost of `cat`."""
    if not pytestconfig.getoption("--scale"):
        pytest.skip("five minutes: make test-scale")
    mig.measured()
    assert mig.slope() < 6
