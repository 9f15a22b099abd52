"""Amounts: what quantities are worth, and sums and multiples of canonical ones, in their own unit."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from kwokgen.formats import canonical, quantity


def worth(amount: str) -> Decimal:
    """The number that a quantity stands for, 0 for what is none."""
    return quantity(amount) or Decimal(0)


def spelt(number: Decimal) -> str:
    """A number as people write it: without an exponent, and without zeros after its fraction."""
    return f"{number.normalize():f}"


def times(amount: str, factor: int) -> str:
    """A canonical quantity some times over."""
    unit = amount.lstrip("0123456789.")
    return canonical(f"{Decimal(amount.removesuffix(unit)) * factor:f}{unit}") if factor != 1 else amount


def total(amounts: Iterable[str]) -> str:
    """The sum of canonical quantities, in the smallest unit among them."""
    summed = [amount for amount in amounts if worth(amount)]
    if len(summed) < 2:
        return summed[0] if summed else "0"
    value = sum(map(worth, summed), Decimal(0))
    binary = all(amount.endswith("i") for amount in summed)
    return canonical(f"{value / 1024:f}Ki" if binary else f"{value:f}")


def shares(amount: str, number: int, step: Decimal) -> tuple[str, ...]:
    """A canonical quantity in so many parts as equal as whole steps allow, the larger first."""
    each, more = divmod(int(worth(amount) / step), number)
    parts = ((each + (index < more)) * step for index in range(number))
    binary = amount.endswith("i")
    return tuple(canonical(f"{part / 1024:f}Ki" if binary and part % 1024 == 0 else f"{part:f}") for part in parts)
