"""The recording of the docs is an asciicast of real runs."""

from __future__ import annotations

import json

import pytest

from scripts.docs.cast import RECORDED, STEPS, Step, record, shown_text

pytestmark = pytest.mark.requirement("I13.5.5")


def check(cast: str) -> None:
    """Asciicast v2: a header, then ``[seconds, "o", text]`` in the order of time."""
    header, *events = [json.loads(line) for line in cast.splitlines()]
    assert header["version"] == 2
    assert min(header["width"], header["height"]) > 0
    assert all(kind == "o" and isinstance(text, str) and text for _, kind, text in events)
    times = [seconds for seconds, _, _ in events]
    assert times == sorted(times)
    assert times[0] >= 0


def test_the_recording_is_well_formed_shows_every_step_and_nothing_of_where_it_was_made() -> None:
    cast = RECORDED.read_text("utf-8")
    check(cast)
    shown = shown_text(cast)
    for step in STEPS:
        assert f"$ {step.command}\n" in shown
        assert all(f"you> {line}" in shown for line in step.typed)
    assert "/tmp" not in cast


@pytest.mark.long
def test_a_recording_is_made_of_what_programs_show_on_a_terminal() -> None:
    cast = record([Step("toolspan chat --no-save", ("What is 6*7?", "/quit"))])
    check(cast)
    _, *lines = shown_text(cast).splitlines()
    assert "you> What is 6*7?" in lines
    assert "calculate: 42" in lines
    assert lines[-1] == "you> /quit"


@pytest.mark.long
def test_a_step_that_fails_is_no_recording() -> None:
    with pytest.raises(RuntimeError, match="ended with 2"):
        record([Step("toolspan serv")])
