"""What a person is shown of a call: nothing that cannot be seen passes, and nothing is lost."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolspan_server.common.visible import written_out, written_out_line
from toolspan_server.engines.definitions.call_preview import (
    CallPreview,
    Section,
    json_text,
    plain_preview,
    preview_from,
)

pytestmark = pytest.mark.requirement("I24.2.1")

HIDDEN = {
    "override": "\u202e",
    "isolate": "\u2066",
    "mark": "\u200f",
    "zero width": "\u200b",
    "joiner": "\u200d",
    "byte order mark": "\ufeff",
    "soft hyphen": "\xad",
    "tag": "\U000e0041",
    "hangul filler": "\u3164",
    "half-width filler": "\uffa0",
    "jamo filler": "\u115f",
    "jamo vowel filler": "\u1160",
    "variation selector": "\ufe0f",
    "further variation selector": "\U000e0100",
    "grapheme joiner": "\u034f",
    "blank of Braille": "\u2800",
    "no-break space": "\xa0",
    "wide space": "\u3000",
    "line separator": "\u2028",
    "C0": "\x1b",
    "C1": "\x9b",
    "return": "\r",
    "delete": "\x7f",
    "surrogate": "\ud800",
    "private use": "\ue000",
    "unassigned": "\u0378",
    "null notehead": "\U0001d159",
}
BASES = ["a", "1", " ", "-", "א", "漢", "❤", "👩", "#", ""]


def is_seen(character: str, before: str) -> bool:
    """Written a second time, by what Unicode says: by its category, and not blank by its name."""
    category = unicodedata.category(character)
    name = unicodedata.name(character, "")
    if any(word in name for word in ("FILLER", "VARIATION SELECTOR", "BLANK", "NULL NOTEHEAD", "JOINER")):
        return False
    if category[0] == "M":
        return unicodedata.category(before)[0] in "LM" and category != "Me"
    return character in " \n" or category[0] in "LNPS"


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("base", BASES)
def test_a_character_that_cannot_be_seen_is_an_escape_after_any_other(hidden: str, base: str) -> None:
    text = f"rm {base}{hidden}x"
    shown = CallPreview((Section("code", text, text),), text, (text,), (text,)).as_text()
    assert hidden not in shown
    assert written_out(text).startswith(f"rm {base}\\")
    assert hidden not in json_text({text: text}) and json.loads(json_text({text: text})) == {text: text}


def test_a_flood_of_marks_ends_after_a_few() -> None:
    flood = "a" + "\u0301" * 40
    assert written_out(flood).count("\u0301") == 3
    assert written_out(flood).count("\\u0301") == 37
    assert written_out("ls\u0301; -\u0301") == "ls\u0301; -\\u0301"


@given(st.text())
def test_only_characters_that_are_seen_pass(text: str) -> None:
    for shown in (written_out(text), written_out_line(text), json_text(text)):
        assert all(is_seen(each, shown[place - 1] if place else " ") for place, each in enumerate(shown)), (
            shown
        )
    assert "\n" not in written_out_line(text)


@given(
    st.recursive(
        st.text() | st.integers() | st.none() | st.booleans(),
        lambda e: st.lists(e) | st.dictionaries(st.text(), e),
    )
)
def test_json_is_another_spelling_of_the_same_value(value: Any) -> None:
    assert json.loads(json_text(value)) == value


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
def test_a_mark_after_an_escape_is_an_escape_too(hidden: str) -> None:
    shown = written_out(f"A{hidden}\u0300")
    assert shown.endswith("\\u0300") and written_out(shown) == shown


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("A\x19\u0300")
@example("A" + "\u0300" * 5)
def test_what_was_written_out_stays_as_it_is(text: str) -> None:
    once = written_out(text)
    assert written_out(once) == once


def test_blanks_that_push_what_follows_out_of_sight_are_counted() -> None:
    assert written_out("ls" + " " * 300 + "; rm x") == "ls⟨300 spaces⟩; rm x"
    assert written_out("ls\n" + "\n" * 200 + "rm x") == "ls\n⟨200 empty lines⟩\nrm x"
    assert written_out(" " * 40 + "deep\n\n\nnext") == " " * 40 + "deep\n\n\nnext"
    assert written_out("\tx") == "→   x"


def test_a_preview_comes_back_from_the_wire_and_a_wrong_one_is_refused() -> None:
    made = CallPreview((Section("diff", "change", "-a\n+b"),), "", ("fact",), ("careful",), "basis")
    back, digest = preview_from(json.loads(json.dumps({**made.as_dict(), "digest": made.digest})))
    assert (back.as_dict(), digest) == (made.as_dict(), made.digest)
    for wrong in (
        None,
        {},
        {"sections": [{}], "digest": ""},
        {"sections": []},
        {**made.as_dict(), "digest": 1},
    ):
        with pytest.raises(ValueError, match="not a"):
            preview_from(wrong)


def test_a_hostile_preview_from_the_wire_is_written_out_too() -> None:
    raw = {"kind": "code", "label": "l\u202e", "text": "t\u200b"}
    data = {"sections": [raw], "facts": ["f\u3164"], "warnings": ["w\x1b[2J"], "digest": ""}
    shown = preview_from(data)[0].as_text()
    assert not {"\u202e", "\u200b", "\u3164", "\x1b"} & set(shown)


def test_the_digest_changes_with_what_is_shown_and_with_what_it_was_made_from() -> None:
    one = CallPreview((Section("code", "a", "b"),), basis="x")
    assert one.digest == CallPreview((Section("code", "a", "b"),), "title", ("fact",), basis="x").digest
    others = [CallPreview((Section("code", "a", "c"),), basis="x"), CallPreview(one.sections, basis="y")]
    assert len({one.digest, *(each.digest for each in others)}) == 3
    assert plain_preview({"a": 1}).digest == ""
