"""What selectors select: never more certain than CEL is of the device."""

from __future__ import annotations

import pytest

from kwokgen import cel
from kwokgen.celselects import selects
from kwokgen.model.device import Device, Version

OWN = "gpu.example.com"
DEVICE = Device("gpu-0", {"model": "A", "ready": True, "number": 3, "version": Version("1.2.3"), "o.com/n": "x"}, {"memory": "40Gi"}, 0)  # fmt: skip
A = f"device.attributes['{OWN}']"
EXPRESSIONS = {
    f"device.driver == '{OWN}'": True,
    f"device.driver != '{OWN}'": False,
    f"{A}.model == 'A'": True,
    f"{A}['model'] in ['B', 'A']": True,
    f"{A}.model in ['B']": False,
    f"{A}.model.startsWith('A') && !{A}.model.contains('B')": True,
    f"{A}.ready": True,
    f"!{A}.ready || {A}.model == 'A'": True,
    "device.attributes['o.com'].n == 'x'": True,
    # An error, which && and || have only where nothing else decides.
    f"{A}.none == 'x'": False,
    f"{A}.none == 'x' || {A}.model == 'A'": True,
    f"!({A}.none == 'x')": False,
    f"has({A}.none) && {A}.none == 'x'": False,
    f"!has({A}.none)": True,
    f"'model' in {A} && 'none' in {A}": False,
    # What is not evaluated here.
    f"{A}.number > 2": None,
    f"{A}.version.compareTo(semver('1.0.0')) > 0": None,
    f"device.capacity['{OWN}'].memory.compareTo(quantity('1Gi')) > 0": None,
    f"{A}.number > 2 || {A}.model == 'A'": True,
    f"{A}.number > 2 && {A}.model == 'B'": False,
    f"!({A}.number > 2)": None,
    f"{A}.?model.orValue('A') == 'A'": None,
    f"device.capacity['{OWN}'].none.compareTo(quantity('1Gi')) > 0": None,
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_selector_selects_what_it_says(expression: str) -> None:
    assert cel.mistakes(expression) == ()
    assert selects(expression, OWN, DEVICE) is EXPRESSIONS[expression]
