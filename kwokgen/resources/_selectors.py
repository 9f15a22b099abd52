"""Expressions of a Stage's selector, and the weight of one that must not wait."""

from __future__ import annotations

from typing import Any

AT_ONCE = 1_000_000
"""Any other Stage of the object waits: one that is drawn instead would keep this one from its time."""
FIRST = AT_ONCE**2
"""Above the steps of lifecycles that come before others (weight: 1000000000)."""
ABOVE_ALL = AT_ONCE * FIRST
"""What somebody asks for by hand."""


def among(expression: str, *values: str) -> dict[str, Any]:
    """What jq makes of the object is one of the values."""
    return {"key": expression, "operator": "In", "values": list(values)}


def lacks(expression: str, *values: str) -> dict[str, Any]:
    """What jq makes of the object is none of the values; nothing is none of them."""
    return {"key": expression, "operator": "NotIn", "values": list(values)}


def there(expression: str) -> dict[str, Any]:
    """Jq finds something."""
    return {"key": expression, "operator": "Exists"}


def absent(expression: str) -> dict[str, Any]:
    """Jq finds nothing."""
    return {"key": expression, "operator": "DoesNotExist"}
