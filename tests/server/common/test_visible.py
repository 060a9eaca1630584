"""Texts from elsewhere are shown so that they neither act on a terminal nor hide from a person."""

from __future__ import annotations

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.cli.logs import LogFormatter
from toolspan_server.common.visible import (
    VisibleStream,
    hidden_characters,
    visible,
    visible_json,
    visible_line,
)

pytestmark = pytest.mark.requirement("I9.2.8")

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;aGk=\x07", r"\x1b]52;c;aGk=\x07"),
        ("\x1b]8;;http://evil\x1b\\here", r"\x1b]8;;http://evil\x1b" + "\\here"),
        ("\x9b2J\x7f\x08\x00", r"\x9b2J\x7f\x08\x00"),
        ("10 files\rnothing", r"10 files\rnothing"),
        ("a\u202egpj.exe\u2066", r"a\u202egpj.exe\u2066"),
        ("pay\u200bpal\u2060\ufeff\xad", r"pay\u200bpal\u2060\ufeff\xad"),
        ("ad\u200dmin\u200c", r"ad\u200dmin\u200c"),
        ("\u200eabc\u200f", r"\u200eabc\u200f"),
        ("one\u2028two\u2029", r"one\u2028two\u2029"),
        ("hi\U000e0068\U000e0069", r"hi\U000e0068\U000e0069"),
        ("\U0001f3f4\U000e0068\U000e0069\U000e007f", "\U0001f3f4" + r"\U000e0068\U000e0069\U000e007f"),
        ("a\ufe0fb\U000e0121", r"a\ufe0fb\U000e0121"),
        ("❤\ufe0f\ufe0f", "❤\ufe0f" + r"\ufe0f"),
        ("half \ud83d", r"half \ud83d"),
        ("\u3164\u115f", r"\u3164\u115f"),
    ],
)
def test_what_acts_or_hides_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert len(hidden_characters(text)) > 0


@pytest.mark.parametrize(
    "text",
    [
        "plain, with a tab\tand lines\nof both\r\nsorts",
        "👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 🧑🏽‍💻 ❤️‍🔥 1️⃣ ©️ ⚠️",
        f"{ENGLAND} and 🇳🇴",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian, with the non-joiner of its spelling
        "\u0915\u094d\u200d\u0937 \u0936\u094d\u0930\u0940\u200c",  # Devanagari
        "\u05e9\u05dc\u05d5\u05dd\u200f!",  # Hebrew, with the mark that puts the sign at its end
        "e\u0301 ñ ạ̈ 葛\U000e0100 中文 Ελληνικά",
    ],
)
def test_what_scripts_and_emoji_need_stays(text: str) -> None:
    assert visible(text) == text
    assert hidden_characters(text) == []


def test_on_one_line_even_line_breaks_are_written_out() -> None:
    assert visible_line("a\nb\tc\r\nd\x1b") == r"a\nb\tc\r\nd\x1b"


def test_the_hidden_are_named_once_each() -> None:
    assert hidden_characters("a\u200bb\u200bc\x1b") == ["U+200B ZERO WIDTH SPACE", "U+001B CONTROL"]


ANY = st.text(st.sampled_from(f"a\r\n\x1b\u200d\u200f\ufe0f👩ש{ENGLAND}\U000e0041\ud800\u202e"), max_size=30)


@given(ANY)
def test_json_keeps_its_value(text: str) -> None:
    assert json.loads(visible_json(json.dumps({text: [text]}, ensure_ascii=False))) == {text: [text]}


@given(ANY, st.integers(1, 4))
def test_a_stream_shows_the_same_whatever_its_pieces(text: str, size: int) -> None:
    stream = VisibleStream()
    shown = "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size)) + stream.end()
    assert shown == visible(text)


@given(ANY)
def test_what_only_acts_or_hides_is_never_shown(text: str) -> None:
    assert not set(visible(text)) & set("\x1b\U000e0041\ud800\u202e")


def test_a_log_record_neither_acts_nor_passes_for_another() -> None:
    text = "tool \x1b[2J said\u2028\x0b2026-01-01 ERROR root: forged\nand\u202e"
    record = logging.LogRecord("x", logging.WARNING, __file__, 1, text, None, None)
    first, second = LogFormatter().format(record).split("\n")
    assert first.endswith(r"tool \x1b[2J said\u2028\x0b2026-01-01 ERROR root: forged")
    assert second == r"    and\u202e"
