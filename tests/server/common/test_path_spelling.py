"""Each file name has one spelling, and each spelling is one name."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.common.path_spelling import quoted, unquoted

pytestmark = pytest.mark.requirement("I12.3.2")

NAMES = st.binary(min_size=1, max_size=40).filter(lambda name: b"\0" not in name).map(os.fsdecode)


@given(NAMES)
def test_any_name_that_a_file_may_have_is_read_back_from_its_spelling(name: str) -> None:
    spelling = quoted(name)
    assert unquoted(spelling) == name
    assert "\n" not in spelling
    assert spelling.isprintable()
    spelling.encode("utf-8")


@given(NAMES, NAMES)
def test_two_names_have_two_spellings(one: str, other: str) -> None:
    assert (quoted(one) == quoted(other)) == (one == other)


@pytest.mark.parametrize(
    ("name", "spelling"),
    [
        ("src/main.py", "src/main.py"),
        ("Grüße 日本.txt", "Grüße 日本.txt"),
        ("two\nlines", r'"two\nlines"'),
        ("invoice\u202efdp.exe", r'"invoice\u202efdp.exe"'),
        (os.fsdecode(b"caf\xe9"), r'"caf\xe9"'),
        ('"quoted"', r'"\"quoted\""'),
        ("back\\slash", r'"back\\slash"'),
        ("~home", '"~home"'),
    ],
)
def test_a_name_that_could_be_misread_is_quoted(name: str, spelling: str) -> None:
    assert quoted(name) == spelling
    assert unquoted(spelling) == name


@pytest.mark.parametrize(
    "spelling", [r'"\q"', r'"\x"', r'"\ud800"', r'"\U00110000"', r'"\x00"', "\ud800", "a\0b"]
)
def test_a_spelling_that_is_no_name_is_refused(spelling: str) -> None:
    with pytest.raises(ValueError, match=r"escape|NUL|characters"):
        unquoted(spelling)
