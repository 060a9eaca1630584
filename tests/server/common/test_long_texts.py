"""What takes secrets out of texts reads any text once: its cost grows with the text alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.support.cost import at_most
from toolspan_server.common.secrets import key_shapes
from toolspan_server.common.secrets.key_shapes import without_keys
from toolspan_server.common.wire.named_secrets import without_named_secrets

pytestmark = pytest.mark.requirement("I24.5.3")

CHARACTERS = 20_000
UNITS = 10
SOURCE = "".join(value.pattern for value in vars(key_shapes).values() if isinstance(value, re.Pattern))
LITERALS = sorted({*re.findall(r"[A-Za-z0-9]{2,}", SOURCE)})
PIECES = [
    *(
        "x",
        "-",
        "_",
        ".",
        "@",
        ":",
        "/",
        " ",
        "\\",
        '"',
        '\\"',
        "://",
        "a://",
        "a://:",
        "a://b:c",
        "eyJ",
        "sk-",
    ),
    *("eyJaaaaaaaa.", "eyJaaaaaaaa.a", "token=", "&key=", '"token":"', "Bearer ", *LITERALS),
]


def without_any_key(text: str) -> str:
    return without_keys(text, lambda _, __: "***")


@pytest.mark.parametrize("work", [without_any_key, without_named_secrets])
@pytest.mark.parametrize("before", ["", "a://b:", "eyJaaaaaaaa.", '"token":"'])
def test_no_text_takes_longer_than_its_length(work: Callable[[str], str], before: str) -> None:
    for piece in PIECES:
        text = before + piece * (CHARACTERS // len(piece))
        with at_most(units=UNITS):
            work(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("at postgres://me:pass@host/x", "at postgres://me:***@host/x"),
        ("1http://me:pass@host", "1http://me:***@host"),
        ("http://me:no-password-here/", "http://me:no-password-here/"),
        ("a://b:c a://d:e@f", "a://b:c a://d:***@f"),
        ("x_eyJhbGciOiJI.eyJzdWIi.c2ln", "x_***"),
        ("eyJhbGciOiJI.only one", "eyJhbGciOiJI.only one"),
        ("eyJhbGciOiJI and sk-abcdefghijklmn", "eyJhbGciOiJI and ***"),
    ],
)
def test_keys_and_passwords_are_taken_out(text: str, left: str) -> None:
    assert without_any_key(text) == left
