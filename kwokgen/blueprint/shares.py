"""Shares: how many of a total a percentage is."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal


def counted(share: str, total: int) -> int:
    """How many of `total` a share such as `2.5%` is, rounded up; more than all of them above 100%."""
    return int((total * Decimal(share.removesuffix("%")) / 100).to_integral_value(ROUND_CEILING))


def wrong(share: str, number: int, total: int, what: str) -> str:
    """What is wrong with a share that is so many of a total; "" for one that is some of them."""
    if 0 < number <= total:
        return ""
    return f"{share} of {total} {what} is {'more than all' if number else 'none'}"
