"""Every regular expression of the packages reads its text in time that grows with the text alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from tests.support.backtracking import explain_growth
from tests.support.patterns_in_code import Found, find_patterns

_SERVER, _BRIDGE = "toolspan_server", "toolspan_bridge"
_OFFLINE = f"{_BRIDGE}.providers.catalog.offline"

pytestmark = [pytest.mark.requirement("I24.5.3")]

_BOUNDED = {
    f"{_SERVER}.protocol.messages.jsonrpc:_id_at_an_end": "the last 1,024 bytes of a line (_recovered_id)",
    f"{_BRIDGE}.formats.shared.faults.overflow:_TOO_LONG": "the first 8,000 characters (_MOST_READ)",
    f"{_BRIDGE}.loop._answer_schema:_FENCED": "texts with at most 100 fences (_MOST_FENCES)",
    f"{_OFFLINE}._arithmetic:_REWRITES": "the first 1,000 characters (_LONGEST)",
    f"{_OFFLINE}._text:_SHAPES": "the first 4,000 characters (_LONGEST)",
    f"{_OFFLINE}._text:_BRACKETS": "the first 4,000 characters (_LONGEST)",
    f"{_OFFLINE}._text:_PLACE_TAIL": "the first 4,000 characters (_LONGEST)",
}
"""Patterns that may take more steps than their text is long, with what bounds the text beside the call."""

_READS_ON = {
    f"{_SERVER}.config.code_files:_LAUNCHERS": "fully matched once for a word of a command line (_Launcher)",
    f"{_SERVER}.config.code_files:_NPM": "fully matched once for a word of a command line (_Launcher)",
    f"{_SERVER}.config.code_files:_URL": "fully matched once for a word of a command line (_Launcher)",
    f"{_SERVER}.config.code_files:_UVX": "fully matched once for a word of a command line (_Launcher)",
    f"{_SERVER}.engines.databases._statement:_CLOSED": "what is not closed ends the reading (_hidden)",
    f"{_BRIDGE}.cli.other_clients.install._json:_REST_OF_LINE": "matched once for an edit (_inserted)",
    f"{_BRIDGE}.cli.other_clients.install._jsonc:_BLANK": "what does not fit raises InvalidJson (_Reader)",
    f"{_BRIDGE}.cli.other_clients.install._jsonc:_STRING": "what does not fit raises InvalidJson (_Reader)",
    f"{_BRIDGE}.cli.terminal.screen.unclosed:_OF_A_RULE": "matched once for a text (_head_of_table)",
    f"{_BRIDGE}.formats.prompt.call_json:_DOUBLE": "what is not closed ends the reading (python_end)",
    f"{_BRIDGE}.formats.prompt.call_json:_SINGLE": "what is not closed ends the reading (python_end)",
    f"{_BRIDGE}.formats.prompt.written_calls:_FENCE": "what does not fit is passed (_Reader)",
    f"{_BRIDGE}.oauth.challenge:_PARAMETER": "what is not matched is passed (_by_scheme); 8,192 characters",
    f"{_BRIDGE}.oauth.challenge:_SCHEME": "what is not matched is passed (_by_scheme); 8,192 characters",
}
"""Patterns that are matched from places inside a text, none of which is read again."""

_MADE_AT_RUN_TIME = {
    f"{_SERVER}.common.secrets.redaction:_any_of": "alternatives of literal texts",
    f"{_SERVER}.common.secrets.redaction:__init__": "alternatives of literal texts",
    f"{_SERVER}.config.shown_text:_of_key": "patternProperties of our own schema of configs",
    f"{_SERVER}.config.code_files:_possible_paths": "one class of characters, repeated",
    f"{_SERVER}.engines.documents._globs:_parts": "fnmatch.translate, whose stars give nothing back",
    f"{_SERVER}.engines.templates._parse:_compiled": "called with constants of its module",
    f"{_SERVER}.engines.uri_templates:_values": "a set of two characters",
    f"{_SERVER}.engines.workspace._patterns:part_pattern": "each star takes the least, in an atomic group",
    f"{_SERVER}.engines.workspace.editing.edits:_replaced": "literal lines between line ends",
    f"{_SERVER}.schema.dangerous_variables:_one_of": "called with constants when it is imported",
    f"{_SERVER}.schema.variables:_pattern": "two constants of its module",
    f"{_BRIDGE}.cli.chat.input.pastes:expanded": "alternatives of literal texts",
    f"{_BRIDGE}.cli.chat.input.pastes:refolded": "alternatives of literal texts",
    f"{_BRIDGE}.cli.curl:_quoted": "alternatives of names",
    f"{_BRIDGE}.cli.other_clients.discovery._registry:_unusable": "constants of its module",
    f"{_BRIDGE}.cli.terminal.screen.unclosed:_unclosed": "so many grave accents, none before and behind",
    f"{_BRIDGE}.formats.prompt.tagged_calls:_xml": "constants of its module",
    f"{_BRIDGE}.formats.shared.replies.markup:any_of": "alternatives of literal texts",
    f"{_BRIDGE}.formats.shared.conversation.media:media_type": "constants, over the first bytes of a file",
    f"{_BRIDGE}.formats.shared.conversation.media:sound_type": "constants, over the first bytes of a file",
    f"{_BRIDGE}.formats.shared.faults.overflow:_any": "called with constants when it is imported",
    f"{_BRIDGE}.formats.shared.faults.rules:_rule": "called with constants when it is imported",
    f"{_BRIDGE}.formats.shared.openai_models:efforts": "constants of its module",
    f"{_BRIDGE}.provenance.outward:_is_in": "a literal text between two signs",
    f"{_BRIDGE}.provenance.outward:_typed_has": "a literal text between two signs",
    f"{_BRIDGE}.provenance.secrets:_named": "constants of its module",
    f"{_BRIDGE}.provenance.stated:_has_phrase": "literal words between two signs",
    f"{_BRIDGE}.providers.settings.endpoint:chat_for": "constants of our own providers' rows",
    f"{_BRIDGE}.validation.generation.rewriting:missing": "a literal text between two signs",
    f"{_BRIDGE}.validation.generation.sentences:bare_clause": "constants and literal texts",
    f"{_BRIDGE}.validation.generation.sentences:_inlined": "constants and literal texts",
}
"""Functions that make a pattern of what they are given. What users and models write goes to RE2 instead."""


@pytest.fixture(scope="module")
def patterns() -> list[Found]:
    return find_patterns(_SERVER, _BRIDGE)


@pytest.mark.long
def test_every_pattern_takes_steps_in_proportion_to_its_text(patterns: list[Found]) -> None:
    slow = dict(_slow(patterns))
    assert slow == {}, "mend it, for example with a possessive repeat, or name here what bounds its text"


@pytest.mark.long
def test_no_exemption_is_left_of_a_pattern_that_was_mended(patterns: list[Found]) -> None:
    slow = {name for name, _ in _slow(patterns, exempt=False)}
    assert _BOUNDED.keys() | _READS_ON.keys() == slow
    assert _MADE_AT_RUN_TIME.keys() == {found.name for found in patterns if found.pattern is None}


def _slow(patterns: list[Found], *, exempt: bool = True) -> Iterable[tuple[str, str]]:
    """The patterns that may take more steps, each with why. Patterns of several places count once."""
    seen: dict[tuple[str | bytes, int, str], str | None] = {}
    for found in patterns:
        if found.pattern is None or (exempt and found.name in _BOUNDED):
            continue
        reads_on = exempt and found.name in _READS_ON
        for use in found.uses - {"search"} | {"match"} if reads_on else found.uses:
            key = (found.pattern, found.flags | re.compile(found.pattern, found.flags).flags, use)
            if key not in seen:
                seen[key] = explain_growth(found.pattern, found.flags, use)
            if (why := seen[key]) is not None:
                yield found.name, f"{use} of {found.pattern!r}: {why}"


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"(a+)+$", "match"),
        (r"(a*)*b", "match"),
        (r"(a|a)*b", "match"),
        (r"(?:x*y|x)*", "match"),
        (r"(?:[ \t]*(?:[-*]|#{1,6}))+\Z", "match"),
        (r"a*a*b", "match"),
        (r"(?s)\s*\n(.*)\nx", "match"),
        (r"a*b", "search"),
        (r"\s+$", "search"),
        (r"<a.*?b", "search"),
        (r'"(?:[^"\\]|\\.)*"', "search"),
        (r"\$\{\w+:[^}]*\}", "search"),
        (r"(?=.*\d)x", "search"),
        (r"\b(?=[\w-]*\d)[\w-]{2,}\b", "search"),
        (r"(?:a{1,63}\.)+b", "search"),
        (r"(?m)^\s*x", "search"),
        (rb"^\s*[{]?\s*x", "match"),
        (r"(?i:A+)a+b", "match"),
    ],
)
def test_a_pattern_that_can_read_a_text_again_and_again_is_found(pattern: str, use: str) -> None:
    assert explain_growth(pattern, 0, use)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"\w+", "search"),
        (r"\w+=", "match"),
        (r"(?<!\w)\w+=", "search"),
        (r"\b\w+=", "search"),
        (r"(?<!\s)\s++$", "search"),
        (r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", "search"),
        (r'"(?:[^"\\]|\\.)*"', "match"),
        (r'"(?:[^"\\]|\\(?s:.|\Z))*(?:"|\Z)', "search"),
        (r"[^\W_]+(?:[.'/_-][^\W_]+)*", "search"),
        (r"(?:a{1,63}\.)+", "search"),
        (r"[a-z]{0,200}x", "search"),
        (r"\$\{\w++:[^{}]*\}", "search"),
        (r"(?s)<a.*?(?:b|\Z)", "search"),
        (r"(?m)^[ \t]*x", "search"),
        (r"(.*)\n(.*)", "match"),
        (r"((a)\2)*b", "match"),
    ],
)
def test_a_pattern_that_reads_each_text_once_is_not_found(pattern: str, use: str) -> None:
    assert explain_growth(pattern, 0, use) is None  # type: ignore[arg-type]
