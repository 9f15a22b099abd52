"""Forms of strings: what is accepted, what is refused, what is meant; quantities against Kubernetes' own arithmetic."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kwokgen import formats
from kwokgen.formats import FORMATS, canonical, milliseconds, quantity
from tests.unit.nasty import strings

QUANTITIES = "0 1 01 +1 1.5 .5 5. 1n 1u 1m 1k 1M 1G 1T 1P 1E 1Ki 1Mi 1Gi 1Ti 1Pi 1Ei 1.5Gi 1e3 1E3 1e+3 1e-3"
NO_VERSIONS = "1 1.2 1.2.3.4 v1.2.3 01.2.3 1.02.3 1.2.03 1.2.3- 1.2.3-01 1.2.3+ a.b.c 1.2.3-a_b 1٣.2.3 1.2٣.3 1.2.3-1٣a"
NO_QUANTITIES = "-1 -0.5 1K 1ki 1gi 1GB 1GiB Gi . 1e 1e3k 1_000 1,5 0x10 1.2.3 ١ NaN Infinity 1ei 1mi"
NO_RESOURCES = "gpu cpus CPU Memory a/b/c /gpu nvidia.com/ hugepages hugepages- hugepages-2Mi/x hugepages-é"
ACCEPTED = {
    "dns-label": ["a", "0", "a-b", "a--b", "1-2", "x" * 63],
    "dns-subdomain": ["a", "a.b", "gpu.example.com", "1.2", "a-b.c-d", "x" * 253, ".".join(["a" * 63] * 3)],
    "label-value": ["", "a", "A", "0", "a.b_c-D", "a..b", "1.30", "x" * 63],
    "label-key": ["a", "A_b.c", "example.com/a", "a/A", "1.2/3", "x" * 63, f"{'a' * 253}/{'b' * 63}"],
    "attribute": ["a", "_", "_1", "A_b", "example.com/a", "a/a", "x" * 32, f"{'a' * 63}/b"],
    "semver": ["0.0.0", "1.2.3", "580.105.8", "1.2.3-rc.1", "1.2.3-0a", "1.2.3--", "1.2.3+01", "1.2.3-a+b.c"],
    "reason": ["Error", "OOMKilled", "a", "NCCL_2", "A:b,c", "x" * 1024],
    "duration": ["0s", "1s", "1.5s", "90s", "1h30m", "100ms", "1h1m1s1ms", "00s"],
    "quantity": [
        *QUANTITIES.split(),
        "9223372036854775807",
    ],
    "resource": ["cpu", "memory", "ephemeral-storage", "pods", "hugepages-2Mi", "hugepages-1Gi", "nvidia.com/gpu"],
    "moment": [
        "2026-12-01T10:00:00Z",
        "2026-12-01T10:00:00.5Z",
        "2026-12-01T10:00:00+02:00",
        "2024-02-29T23:59:59-11:30",
    ],
    "cidr": ["10.0.0.0/8", "10.1.2.0/24", "192.168.0.1/32", "0.0.0.0/0"],
}
REFUSED = {
    "dns-label": ["", "A", "-a", "a-", "a.b", "a_b", "a b", "é", "a\n", "x" * 64, "١"],
    "dns-subdomain": ["", ".", "a.", ".a", "a..b", "A", "a/b", "-a.b", "a.-b", "a_b", "x" * 254, "a\n"],
    "label-value": ["-", "-a", "a-", ".a", "a_", "a b", "a/b", "é", "a\n", "x" * 64, "😀"],
    "label-key": ["", "/a", "a/", "a/b/c", "A/b", "-a", "a-", "a b", "é", "x" * 64, f"{'a' * 254}/b", "a_b/c", "a\n"],
    "attribute": ["", "1a", "a-b", "a.b", "a b", "a/", "/a", "A.b/c", "a/b/c", "x" * 33, f"{'a' * 64}/b", "é", "a\n"],
    "semver": [
        *NO_VERSIONS.split(),
        *("", " 1.2.3", "1.2.3\n", f"1.2.3-{'a' * 59}"),
    ],
    "reason": ["", "out of memory", "137", "_a", "a:", "é", "OOMKilled\n", "a-b", "x" * 1025],
    "duration": ["", "1", "-1s", "s", "1d", "1w", "1 s", "1S", "1us", "1m30", ".5s", "1.s", "٣s", "1s\n"],
    "quantity": [
        *NO_QUANTITIES.split(),
        *("", "1 Gi", "1Gi ", "1Gi\n"),
    ],
    "resource": [
        *NO_RESOURCES.split(),
        *("", "hugepages-a b", "cpu\n"),
    ],
    "moment": [
        *("", "2026-12-01", "2026-12-01T10:00:00", "2026-12-01 10:00:00Z", "2026-12-01t10:00:00z", "2026-12-01T10:00Z"),
        *(
            "20261201T100000Z",
            "2026-W49-2T10:00:00Z",
            "2026-02-29T10:00:00Z",
            "2026-12-01T25:00:00Z",
            "2026-12-01T10:00:00Z\n",
        ),
    ],
    "cidr": ["", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/-1", "fd00::/64", "10.0.0/8", "10.0.0.0/ 8", "a", "10.0.0.0/٨"],
}


def test_every_format_has_a_table() -> None:
    """What a format accepts, and what it refuses."""
    assert FORMATS.keys() == ACCEPTED.keys() == REFUSED.keys()


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_format_accepts(name: str) -> None:
    assert [text for text in ACCEPTED[name] if not FORMATS[name].test(text)] == []


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_format_refuses(name: str) -> None:
    assert [text for text in REFUSED[name] if FORMATS[name].test(text)] == []


MEANT = {
    "dns-label": {"My_Pool": "my-pool", "gpu.pool": "gpu-pool", "-a-": "a", "H100": "h100"},
    "dns-subdomain": {},
    "label-value": {"a b": "a-b", "-a-": "a", "a/b": "a-b", "1:2": "1-2", "é": ""},
    "label-key": {},
    "attribute": {"gpu-type": "gpu_type"},
    "semver": {"7.5": "7.5.0", "12": "12.0.0", "v1.2.3": "1.2.3", "535.129.03": "535.129.3", "1.2.3.4": ""},
    "reason": {"out of memory": "OutOfMemory", "a-b": "AB", "a:": "A", "": ""},
    "duration": {"30": "30s", "1.5": "1.5s", "1d": "", "s": ""},
    "quantity": {
        "256GiB": "256Gi",
        "256GB": "256G",
        "256gi": "256Gi",
        "1 Gi": "1Gi",
        "1K": "1k",
        "1KiB": "1Ki",
        "512ki": "512Ki",
    }
    | {"-1": "", "many": "", "1ei": "", "": ""},
    "resource": {},
    "moment": {},
    "cidr": {},
}


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_wrong_spelling_means(name: str) -> None:
    """The right spelling, or none where nobody can say."""
    test, suggest = FORMATS[name].test, FORMATS[name].suggest
    assert [text for text in MEANT[name] if test(text)] == []
    assert {text: suggest(text) if test(suggest(text)) else "" for text in MEANT[name]} == MEANT[name]


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_says_what_it_allows_with_an_example_that_holds(name: str) -> None:
    """What a message calls it, and every spelling behind `such as`."""
    form = FORMATS[name]
    assert form.what.startswith(("a ", "an "))
    _, _, examples = form.allowed.partition("such as ")
    named = [word.strip('",.') for word in examples.replace(" or ", " ").split()]
    assert [word for word in named if not form.test(word)] == []


@given(strings())
def test_no_text_is_too_nasty_for_a_format(text: str) -> None:
    """A test answers and a suggestion is made, whatever the text."""
    for form in FORMATS.values():
        assert form.test(text) in {True, False}
        assert isinstance(form.suggest(text), str)


@given(st.text(alphabet="0123456789.eEkKMGTPEimunB+- ", max_size=8))
def test_what_is_a_quantity_can_be_written(text: str) -> None:
    """Its canonical form is a quantity of the same form, and of the same value but for what is below a billionth."""
    if not formats.is_quantity(text):
        return
    written = canonical(text)
    assert canonical(written) == written
    difference = (quantity(written) or Decimal(0)) - (quantity(text) or Decimal(0))
    assert 0 <= difference < Decimal("1e-9")


NANO = 10**9
DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
MOST = 2**63 - 1


def expected(number: str, suffix: str) -> str | None:
    """https://pkg.go.dev/k8s.io/apimachinery/pkg/api/resource#Quantity in whole billionths; None above what it holds."""
    if suffix[:1] in {"e", "E"} and suffix[1:].lstrip("+-").isdigit():
        factor = Fraction(10) ** int(suffix[1:])
    else:
        factor = Fraction(1024) ** BINARY[suffix] if suffix in BINARY else Fraction(10) ** DECIMAL[suffix]
    value = Fraction(number) * factor
    billionths = -int(-(value * NANO) // 1)
    if value > MOST:
        return None
    if not billionths:
        return "0"
    # CanonicalizeBytes: small and broken numbers of the binary family are written in the decimal one.
    binary = suffix in BINARY and billionths >= 1024 * NANO and billionths % NANO == 0
    sizes = {name: 1024**power * NANO for name, power in BINARY.items()} | {"": NANO}
    if not binary:
        sizes = {name: 10 ** (power + 9) for name, power in DECIMAL.items()}
    name = max((name for name, size in sizes.items() if billionths % size == 0), key=lambda name: sizes[name])
    return f"{billionths // sizes[name]}{name}"


NUMBERS = st.one_of(
    st.integers(0, 10**6).map(str),
    st.integers(0, MOST).map(str),
    st.sampled_from(["1024", "1000", "1536", "0.5", "0.25", "1.5", "0.001", "1000000", "1048576", "81559", "191450"]),
    st.decimals(0, 10**6, places=3).map(lambda number: f"{number:f}"),
    st.decimals(0, 4, places=12).map(lambda number: f"{number:f}"),
)
SUFFIXES = st.sampled_from([*DECIMAL, *BINARY, "e3", "E6", "e+2", "e-3", "e-12", "e0"])


@given(NUMBERS, SUFFIXES)
def test_quantities_are_written_as_kubernetes_writes_them(number: str, suffix: str) -> None:
    """Against the same rules in fractions."""
    wanted = expected(number, suffix)
    assume(wanted is not None)
    assert formats.is_quantity(number + suffix)
    assert canonical(number + suffix) == wanted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", "0"),
        ("0Gi", "0"),
        ("0.0", "0"),
        ("00012", "12"),
        ("1.10", "1100m"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("5.", "5"),
        ("+5", "5"),
        ("1000", "1k"),
        ("1024", "1024"),
        ("1e3", "1k"),
        ("1E3", "1k"),
        ("1e-3", "1m"),
        ("1000m", "1"),
        ("100000m", "100"),
        ("64000m", "64"),
        ("100n", "100n"),
        ("0.1n", "1n"),
        ("0.0000000001", "1n"),
        ("1.800976744438Ei", "2076384817959399885960525120n"),
        ("3300", "3300"),
        ("3.3k", "3300"),
        ("1024Ki", "1Mi"),
        ("81920Mi", "80Gi"),
        ("1000000Ki", "1000000Ki"),
        ("0.5Gi", "512Mi"),
        ("1.5Gi", "1536Mi"),
        ("1.1Ki", "1126400m"),
        ("0.5Ki", "512"),
        ("0.9765625Ki", "1k"),
        ("2Ti", "2Ti"),
        ("2048Gi", "2Ti"),
        ("1024Pi", "1Ei"),
        ("7Ei", "7Ei"),
        ("9E", "9E"),
        ("9223372036854775807", "9223372036854775807"),
        ("1000000000000000000n", "1G"),
    ],
)
def test_canonical_quantities(text: str, expected: str) -> None:
    """As the API server stores them, so that a second apply finds nothing to change."""
    assert canonical(text) == expected


@pytest.mark.parametrize(
    "text", ["10E", "100E", "8Ei", "16Ei", "1e20", "1e400", "1e-400", "9" * 40, "1" * 30 + "n", "1e99999"]
)
def test_quantities_that_no_integer_holds(text: str) -> None:
    """The API server cuts them to what 64 bits hold: they are refused, or at least written as something that holds."""
    if formats.is_quantity(text):
        assert (quantity(canonical(text)) or 0) <= MOST


@pytest.mark.parametrize("text", ["", "-", "many", "1K"])
def test_what_is_no_quantity_has_no_canonical_form(text: str) -> None:
    """Callers ask first."""
    assert quantity(text) is None
    with pytest.raises(ValueError, match=f"^{text}$"):
        canonical(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0s", 0),
        ("1ms", 1),
        ("0.1ms", 1),
        ("1.0001ms", 2),
        ("1s", 1_000),
        ("1.5s", 1_500),
        ("90s", 90_000),
        ("1m", 60_000),
        ("1h30m", 5_400_000),
        ("1h1m1s1ms", 3_661_001),
        ("1s1h", 3_601_000),
        ("0.5h", 1_800_000),
    ],
)
def test_durations(text: str, expected: int) -> None:
    """In whole milliseconds, rounded up."""
    assert milliseconds(text) == expected
