"""Ten thousand nodes, and a thousand with slices of partitions, on a real control plane: `make test-scale`."""

import pytest

from bench.live import breaking, mig, scale

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


def test_a_thousand_nodes_break_as_it_was_drawn(pytestconfig: pytest.Config) -> None:
    """Counts to the node and to the pod, a rack that empties in the rate that `plan` says."""
    if not pytestconfig.getoption("--scale"):
        pytest.skip("fifteen minutes: make test-scale")
    seen = breaking.measured()
    assert (seen.xid, seen.failed, seen.rack) == (10, 20, breaking.RACK)
    assert seen.flapping == [50] * breaking.TIMES
    assert breaking.RATE <= seen.between < 1.2 * breaking.RATE
    assert breaking.slope() < 6
