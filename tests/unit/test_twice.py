"""Objects of one name are found whatever they are made of, and the look-up does not grow faster than what is looked through."""

from __future__ import annotations

import sys

import pytest

from kwokgen.duplicates import between, within
from kwokgen.model.place import NOWHERE, Place
from kwokgen.series import Join, Run, Series, Shape, Slot

COLUMNS = {"name": lambda index: f"n{index}"}


def series(runs: int, end: str = "") -> Series:
    """Nodes of which each stands in a run of its own."""
    name = Join((Slot("name"), end)) if end else Slot("name")
    document = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    made = tuple(Run(Shape((document,)), index, index) for index in range(runs))
    return Series(file="", runs=made, at=Place(NOWHERE), by="", columns=COLUMNS)


def steps(runs: int) -> int:
    """How many calls it takes to look through three series of so many runs that do not meet."""
    made = [series(runs), series(runs, "-x"), series(runs, "-y-x")]
    called: list[str] = []
    sys.setprofile(lambda _frame, event, _argument: called.append(event))
    try:
        found = list(within(made))
    finally:
        sys.setprofile(None)
    assert found == []
    return len(called)


def test_the_look_up_grows_with_the_runs() -> None:
    """Twice the nodes that are marked one by one: twice the steps, not four times."""
    assert steps(200) < 2.2 * steps(100)


@pytest.mark.parametrize("runs", [1, 2, 30])
def test_a_name_of_two_series_is_found_in_any_run(runs: int) -> None:
    """The first that they share, at the later series."""
    [found] = within([series(30), series(runs)])
    assert found.message == 'Node "n0" is made twice'


def test_documents_of_one_shape_have_names_of_their_own() -> None:
    """Two that stand together and are named alike are the same object."""
    document = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": Slot("name")}}
    one = Series("", (Run(Shape((document, document)), 0, 1),), Place(NOWHERE), "", COLUMNS)
    [found] = within([one])
    assert found.message == 'Node "n0" is made twice'


def test_a_name_of_two_bundles_is_found_once() -> None:
    """In each bundle but the first; that it is there twice in one of them is for that one."""
    found = list(between({"a": [series(3)], "b": [series(2), series(3, "-x")], "c": [series(4, "-y")]}))
    assert [problem.message for problem in found] == ['the bundle "a" has the Node "n0" as well']


def test_bundles_of_many_nodes_are_looked_through_in_few_steps() -> None:
    """Twice the nodes: twice the steps."""

    def steps(rows: int) -> int:
        name = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": Slot("name")}}
        shapes = [
            Series("", (Run(Shape((name,)), first, first + rows - 1),), Place(NOWHERE), "", COLUMNS)
            for first in (0, rows)
        ]
        called: list[str] = []
        sys.setprofile(lambda _frame, event, _argument: called.append(event))
        try:
            found = list(between({"a": shapes[:1], "b": shapes[1:]}))
        finally:
            sys.setprofile(None)
        assert found == []
        return len(called)

    assert steps(2000) < 2.2 * steps(1000)
