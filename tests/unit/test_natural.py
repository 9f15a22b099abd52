"""The order of names: numbers as numbers, and any text is a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from kwokgen import natural
from kwokgen.catalog import Catalog


@pytest.mark.parametrize(
    "ascending",
    [
        ["gpu-9", "gpu-10", "gpu-10-a"],
        ["2", "10", "a"],
        ["a-1-10", "a-2-9"],
        ["a", "a1", "a01b", "a2"],
        ["", "0"],
        # Digits to Python, and no numbers to int(), or not as they look.
        ["a1", "a10", "a²b", "a³"],
        ["1", "١", "٢"],
    ],
)
def test_names_ascend_as_people_count(ascending: list[str]) -> None:
    names = ascending[::-1]
    names.sort(key=natural.key)
    assert names == ascending


def test_an_entry_of_a_catalogue_may_have_any_name(tmp_path: Path) -> None:
    (tmp_path / "gpus").mkdir()
    (tmp_path / "gpus" / "a²b.yaml").write_text("{}")
    assert "a²b" in Catalog.of([str(tmp_path)]).names("gpus")
