"""``toolspan errors`` explains errors by codes and texts, and an error at a terminal names its entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import toolspan
from tests.support.terminal import Terminal

pytestmark = pytest.mark.requirement("I13.5.41")

MOCK = """
tools:
  registry:
    - name: weather
      description: The weather in a city
      parameters: {type: object, properties: {city: {type: string}}, required: [city]}
      implementation: {type: mock, response: 22}
"""


def test_a_code_is_explained_with_its_exit_code_and_texts(tmp_path: Path) -> None:
    ran = toolspan("errors", "no_tools", cwd=tmp_path)
    assert ran.code == 0
    assert "Exit code 5. The verb needs tools and no server offers any." in ran.out
    assert "](" not in toolspan("errors", "auth", cwd=tmp_path).out, "links are for pages"


def test_a_message_is_found_as_it_was_printed(tmp_path: Path) -> None:
    said = toolspan("ask", "hi", "-m", "nope/x", cwd=tmp_path).err.splitlines()[-1]
    [first, *_] = toolspan("errors", "--json", said, cwd=tmp_path).json
    assert first["code"] == "usage"
    assert first["messages"][0]["message"].startswith("no provider …: a model is written")


def test_a_message_without_its_end_is_found_too(tmp_path: Path) -> None:
    [found] = toolspan("errors", "no provider 'opnai'", "--json", cwd=tmp_path).json
    assert "no provider … (…)" in [each["message"] for each in found["messages"]]


@pytest.mark.parametrize(("words", "code"), [("http_404", "http_…"), ("file_not_found", "file_not_found")])
def test_the_codes_of_failed_tools_are_found(words: str, code: str, tmp_path: Path) -> None:
    assert [each["code"] for each in toolspan("errors", words, "--json", cwd=tmp_path).json] == [code]


def test_all_codes_are_listed_each_with_why_it_comes(tmp_path: Path) -> None:
    listed = toolspan("errors", "--json", cwd=tmp_path).json
    assert {"usage", "bad_config", "rate_limited"} <= {each["code"] for each in listed}
    assert all(each["why"] for each in listed)
    assert "rate_limited" in toolspan("errors", cwd=tmp_path).out


def test_what_is_no_error_is_said_with_the_nearest_code(tmp_path: Path) -> None:
    ran = toolspan("errors", "no_tool", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "no error has the code or the text 'no_tool' (did you mean 'no_tools'?)" in ran.err


def test_at_a_terminal_an_error_names_the_command_that_explains_it(tmp_path: Path) -> None:
    with Terminal("tools", "list", cwd=tmp_path) as terminal:
        terminal.until("more about it: ")
        assert terminal.until("\n").rstrip().endswith("errors usage")
        assert terminal.ended() == 2
    assert "more about it" not in toolspan("tools", "list", cwd=tmp_path).err, "in a pipe nobody reads it"


def test_at_a_terminal_a_failed_call_names_its_entry_too(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(MOCK)
    with Terminal("tools", "call", "weather", cwd=tmp_path) as terminal:
        terminal.until("more about it: ")
        assert terminal.until("\n").rstrip().endswith("errors invalid_parameters")
        assert terminal.ended() == 5
