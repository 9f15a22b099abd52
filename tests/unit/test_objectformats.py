"""Forms of strings of objects: what is accepted and what is refused."""

from __future__ import annotations

import pytest

from kwokgen import objectformats
from kwokgen.formats import Format

FORMS: dict[str, tuple[Format, list[str], list[str]]] = {
    "address": (
        objectformats.ADDRESS,
        ["10.0.0.1", "0.0.0.0", "010.0.0.001", "fd00::1", "::", "::ffff:10.0.0.1", "2001:0db8::0001"],
        ["", "10.0.0", "10.0.0.256", "10.0.0.1/8", "fe80::1%eth0", "a", " 10.0.0.1", "10.0.0.1\n", "1٣.0.0.1"],
    ),
    "network": (
        objectformats.NETWORK,
        ["10.0.0.0/8", "10.0.0.1/32", "10.0.0.1/00", "fd00::/64", "::/128"],
        ["", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "fd00::/129", "10.0.0.0/255.0.0.0", "10.0.0.0/-1", "10.0.0.0/8/8"],
    ),
    "variable": (
        objectformats.VARIABLE,
        ["A", "a.b-c", "1", "a b", "~", "<>"],
        ["", "a=b", "=", "é", "a\n", "a\tb", "\x7f"],
    ),
    "manager": (
        objectformats.MANAGER,
        ["example.com/a", "a/b/c", "a/%20", f"a/{'b' * 61}"],
        ["", "a", "a/", "/a", "A/b", "a/b c", "a/b?c", "a/b\n", f"a/{'b' * 62}"],
    ),
    "policy version": (
        objectformats.POLICY,
        ["latest", "v1.0", "v1.30"],
        ["", "1.30", "v1", "v2.0", "v1.01", "v1.30.1", "latest\n"],
    ),
    "time": (
        objectformats.TIME,
        ["2026-12-01T10:00:00Z", "1969-12-31T23:59:59Z", "2300-01-01T00:00:00.123456+02:00"],
        ["", "2026-12-01", "2026-12-01T10:00:00", "2026-02-30T10:00:00Z", "2026-12-01 10:00:00Z", "now"],
    ),
}


@pytest.mark.parametrize(("form", "accepted", "refused"), FORMS.values(), ids=FORMS)
def test_what_a_form_takes(form: Format, accepted: list[str], refused: list[str]) -> None:
    """What it accepts and what it refuses, each whole."""
    assert [text for text in accepted if not form.test(text)] == []
    assert [text for text in refused if form.test(text)] == []


def test_a_name_that_is_meant() -> None:
    """The suggestion of a name is a name."""
    assert objectformats.NAME.suggest("My_Class") == "my-class"
