"""The forms that Kubernetes asks of strings, each with the words that say so; used on the blueprint and on objects."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from datetime import datetime
from decimal import Context, Decimal, InvalidOperation
from typing import NamedTuple

# Texts, not patterns: a start compiles only those that it meets.
LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
LABEL_VALUE = r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
KEY_NAME = r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
SEMVER = (
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-((0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)
MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})"
DURATION = r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+"
REASON = r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
QUANTITY = r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?"

BINARY = {f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", 1)}
DECIMAL: dict[str, Decimal] = {
    suffix: Decimal(1000) ** power for power, suffix in enumerate(("n", "u", "m", "", *"kMGTPE"), -3)
}
MOST_QUANTITY = 2**63 - 1
MOST_LABEL = 63
MOST_SUBDOMAIN = 253
MOST_HOURS, YEARS = 2_562_047, range(1970, 2262)
"""What Go's time.Duration and nanoseconds of Unix time hold: https://pkg.go.dev/time#Duration."""


def is_label(text: str) -> bool:
    """A DNS label (RFC 1123), as names of pools, namespaces, devices and jobs."""
    return len(text) <= MOST_LABEL and re.fullmatch(LABEL, text) is not None


def is_subdomain(text: str) -> bool:
    """A DNS subdomain, as most object names."""
    return len(text) <= MOST_SUBDOMAIN and re.fullmatch(SUBDOMAIN, text) is not None


def is_label_value(text: str) -> bool:
    """The value of a label or of a taint."""
    return len(text) <= MOST_LABEL and re.fullmatch(LABEL_VALUE, text) is not None


def is_key(text: str) -> bool:
    """The key of a label, an annotation or a taint: `[prefix/]name`."""
    prefix, slash, name = text.rpartition("/")
    named = len(name) <= MOST_LABEL and re.fullmatch(KEY_NAME, name) is not None
    return named and (not slash or is_subdomain(prefix))


def is_attribute(text: str) -> bool:
    """The name of a device attribute or capacity: `[domain/]identifier`."""
    domain, slash, name = text.rpartition("/")
    named = len(name) <= 32 and re.fullmatch(IDENTIFIER, name) is not None
    return named and (not slash or (len(domain) <= MOST_LABEL and is_subdomain(domain)))


def is_semver(text: str) -> bool:
    """A version as semver.org 2.0.0 has it: three numbers without leading zeros, at most 64 bytes."""
    return len(text.encode()) <= 64 and re.fullmatch(SEMVER, text) is not None


def is_duration(text: str) -> bool:
    """A Go duration with a unit, of at most 2^63 ns; KWOK reads a bare number as no duration at all."""
    return re.fullmatch(DURATION, text) is not None and milliseconds(text) <= MOST_HOURS * 3_600_000


def is_reason(text: str) -> bool:
    """The reason of a condition, or of a container's state."""
    return len(text) <= 1024 and re.fullmatch(REASON, text) is not None


def is_quantity(text: str) -> bool:
    """A Kubernetes quantity that is not negative."""
    return quantity(text) is not None and not text.startswith("-")


def is_cidr(text: str) -> bool:
    """An IPv4 network with its host bits clear."""
    try:
        ipaddress.IPv4Network(text)
    except ValueError:
        return False
    return True


def is_resource(text: str) -> bool:
    """The name of a resource of a node: cpu, memory, …, or `domain/name`."""
    pages = text.removeprefix(PAGES)
    return text in NATIVE_RESOURCES or (pages != text and is_quantity(pages)) or ("/" in text and is_key(text))


PAGES = "hugepages-"
QUOTAS = "requests."
"""What a ResourceQuota calls a resource begins so, and the name of no resource that a container may ask for."""
NATIVE_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})


def quantity(text: str) -> Decimal | None:
    """The number that a quantity stands for, in the unit's base (bytes, cores); None if it is none.

    The API server takes a number beyond 63 bits and silently makes it the largest that it can hold.
    """
    found = re.fullmatch(QUANTITY, text)
    if not found:
        return None
    number, suffix = found[1], found[2] or ""
    # A product has more digits than the 28 that are kept otherwise, and a lost one is seen after the rounding.
    exact = Context(prec=len(number) + len(f"{MOST_QUANTITY}"))
    try:
        unit = BINARY.get(suffix) or DECIMAL.get(suffix)
        value = Decimal(number + suffix) if unit is None else exact.multiply(Decimal(number), unit)
        return value if abs(value) <= MOST_QUANTITY else None
    except InvalidOperation:
        return None


def canonical(text: str) -> str:
    """A quantity as the API server stores it, so that a second apply finds nothing to change.

    The largest suffix of the same family without a fraction: "81920Mi" is "80Gi", "0.5" is "500m".
    https://pkg.go.dev/k8s.io/apimachinery/pkg/api/resource#Quantity
    """
    value = quantity(text)
    if value is None:
        raise ValueError(text)
    value = value.quantize(DECIMAL["n"], rounding="ROUND_UP") if value % DECIMAL["n"] else value
    binary = text.endswith("i") and value >= BINARY["Ki"] and value == value.to_integral_value()
    family = BINARY | {"": Decimal(1)} if binary else DECIMAL
    for suffix, factor in sorted(family.items(), key=lambda item: -item[1]):
        scaled = value / factor
        if value and scaled == scaled.to_integral_value():
            return f"{scaled:f}".partition(".")[0] + suffix
    return "0"


def is_moment(text: str) -> bool:
    """RFC 3339 as Go reads it; Python's own reader takes much more of ISO 8601."""
    try:
        return re.fullmatch(MOMENT, text) is not None and datetime.fromisoformat(text).year in YEARS
    except ValueError:
        return False


def milliseconds(text: str) -> int:
    """A duration in whole milliseconds, rounded up."""
    factor = {"ms": Decimal(1), "s": Decimal(1000), "m": Decimal(60_000), "h": Decimal(3_600_000)}
    parts = re.findall(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)", text)
    total = sum((Decimal(number) * factor[unit] for number, unit in parts), Decimal(0))
    return int(total.to_integral_value(rounding="ROUND_CEILING"))


class Format(NamedTuple):
    """A form of strings: the test, what it is called, and what a right one looks like."""

    test: Callable[[str], bool]
    what: str
    allowed: str
    suggest: Callable[[str], str] = str
    """The right spelling that a wrong one most likely meant; its own argument when there is none."""


def _quantity_meant(text: str) -> str:
    spelt = text.replace(" ", "")
    for wrong, right in (("iB", "i"), ("B", ""), ("gi", "Gi"), ("mi", "Mi"), ("ki", "Ki"), ("ti", "Ti"), ("K", "k")):
        if not is_quantity(spelt):
            spelt = spelt.replace(wrong, right)
    return spelt


def _semver_meant(text: str) -> str:
    parts = [part.lstrip("0") or "0" for part in text.removeprefix("v").split(".")]
    return ".".join([*parts, "0", "0"][: max(3, len(parts))])


def _label_meant(text: str) -> str:
    return re.sub(r"[^a-z0-9-]", "-", text.lower()).strip("-")


def _reason_meant(text: str) -> str:
    words = re.findall(r"[A-Za-z0-9_]+", text)
    return "".join(word[:1].upper() + word[1:] for word in words)


def _label_value_meant(text: str) -> str:
    return re.sub(r"[^-A-Za-z0-9_.]", "-", text).strip("-_.")


FORMATS = {
    "dns-label": Format(
        is_label,
        "a DNS label",
        "lower-case letters, digits and '-', at most 63, a letter or digit at both ends",
        _label_meant,
    ),
    "dns-subdomain": Format(
        is_subdomain, "a DNS subdomain", "lower-case letters, digits, '-' and '.', at most 253, such as gpu.example.com"
    ),
    "label-value": Format(
        is_label_value,
        "a label value",
        "letters, digits, '-', '_' and '.', at most 63, a letter or digit at both ends",
        _label_value_meant,
    ),
    "label-key": Format(is_key, "a label key", "[prefix/]name with a name of at most 63 and a DNS subdomain as prefix"),
    "attribute": Format(
        is_attribute,
        "a device attribute name",
        "letters, digits and '_', at most 32, no digit first, such as gpu_type",
        lambda text: text.replace("-", "_"),
    ),
    "semver": Format(
        is_semver, "a semantic version", "three numbers without leading zeros, such as 535.129.3", _semver_meant
    ),
    "duration": Format(
        is_duration,
        "a duration",
        f'a number with its unit, of at most {MOST_HOURS}h, such as "90s", "5m" or "1h30m"',
        lambda text: f"{text}s",
    ),
    "quantity": Format(
        is_quantity,
        "a quantity",
        "a number below 2^63 with a suffix of Ki Mi Gi Ti Pi Ei or m k M G T P E, such as 64, 500m or 256Gi",
        _quantity_meant,
    ),
    "resource": Format(is_resource, "a resource name", "cpu, memory, ephemeral-storage, pods, or domain/name"),
    "moment": Format(
        is_moment,
        "a moment",
        'a date from 1970 to 2261 and a time of it with its zone, in quotes, such as "2026-12-01T10:00:00Z"',
    ),
    "reason": Format(
        is_reason, "a reason", "one word of letters, digits and '_', a letter first, such as OOMKilled", _reason_meant
    ),
    "cidr": Format(is_cidr, "an IPv4 network", "a network address and its length, such as 10.0.0.0/16"),
}
