"""String tools: what they give, and that no input makes them slow or their results large."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cost import at_most
from tests.support.executors import builtin, executor_of, handled
from toolspan_server import Context, ToolFailure
from toolspan_server.calls.caller import LOCAL
from toolspan_server.tools.handlers._encodings import decoded, encoded
from toolspan_server.tools.handlers._letter_case import CASES
from toolspan_server.tools.handlers.strings import MAX_OUTPUT, MAX_PARTS, string_regex

pytestmark = pytest.mark.anyio

LONG = "a" * 999_000


async def refusal(handler: str, **arguments: Any) -> str:
    with at_most(units=500), pytest.raises(ToolFailure) as raised:
        await handled(handler, **arguments)
    return raised.value.error.removeprefix("Invalid parameters: ")


@pytest.mark.requirement("I2.4.2")
@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("upper", "PARSEHTTPREPLY IT'S ÉLAN_X2"),
        ("lower", "parsehttpreply it's élan_x2"),
        ("title", "Parsehttpreply It's Élan_X2"),
        ("capitalize", "Parsehttpreply it's élan_x2"),
        ("swap", "PARSEhttprEPLY IT'S ÉLAN_X2"),
        ("snake", "parse_http_reply_it_s_élan_x2"),
        ("kebab", "parse-http-reply-it-s-élan-x2"),
        ("camel", "parseHttpReplyItSÉlanX2"),
        ("pascal", "ParseHttpReplyItSÉlanX2"),
    ],
)
async def test_a_text_is_written_in_another_case(case: str, expected: str) -> None:
    told = await handled("string_case", text="parseHTTPReply it's élan_x2", case=case)
    assert told == {"text": expected}


async def test_an_unknown_case_is_answered_with_the_known_ones() -> None:
    assert await refusal("string_case", text="a", case="loud") == (
        "'case' must be one of: upper, lower, title, capitalize, swap, snake, kebab, camel, pascal"
    )


@given(st.text(), st.sampled_from(sorted(CASES)))
def test_any_text_has_every_case(text: str, case: str) -> None:
    assert isinstance(CASES[case](text), str)


@pytest.mark.requirement("I2.4.2")
@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({}, 9),
        ({"what": "characters"}, 9),
        ({"what": "words"}, 5),
        ({"what": "lines"}, 2),
        ({"what": "bytes"}, 10),
        ({"of": "a"}, 2),
        ({"of": "aa"}, 0),
    ],
)
async def test_a_text_is_counted(arguments: dict[str, Any], count: int) -> None:
    assert await handled("string_count", text="é a b\na c", **arguments) == {"count": count}


@pytest.mark.requirement("I2.4.2")
@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ({}, "hello"),
        ({"start": -3}, "llo"),
        ({"start": 1, "end": 3.0}, "el"),
        ({"start": 9, "end": 10**30}, ""),
    ],
)
async def test_a_text_is_sliced(places: dict[str, Any], expected: str) -> None:
    assert await handled("string_slice", text="hello", **places) == {"text": expected}


@pytest.mark.requirement("I2.4.2")
async def test_a_text_is_replaced_in_a_text() -> None:
    assert await handled("string_replace", text="aaa", old="a", new="b") == {"text": "bbb", "replacements": 3}
    assert await handled("string_replace", text="aaa", old="a", new="", count=2) == {
        "text": "a",
        "replacements": 2,
    }
    assert (
        await refusal("string_replace", text="a", old="", new="b") == "'old' must have at least 1 character"
    )
    assert (
        await refusal("string_replace", text="a", old="a", new="b", count=-1) == "'count' must be at least 0"
    )


@pytest.mark.requirement("I2.4.2")
async def test_a_pattern_finds_its_matches_with_places_and_groups() -> None:
    told = await handled("string_regex", text="中 ab cd", pattern=r"(\w)(?P<second>\w)|(中)")
    assert told == {
        "matches": [
            {"match": "中", "start": 0, "end": 1, "groups": [None, None, "中"]},
            {"match": "ab", "start": 2, "end": 4, "groups": ["a", "b", None]},
            {"match": "cd", "start": 5, "end": 7, "groups": ["c", "d", None]},
        ],
        "count": 3,
        "truncated": False,
    }


async def test_more_matches_than_asked_for_are_said_to_be_truncated() -> None:
    told = await handled("string_regex", text="aaaa", pattern="a", max_matches=2)
    assert (told["count"], told["truncated"]) == (2, True)
    assert len((await handled("string_regex", text="a" * 200, pattern="a"))["matches"]) == 100
    assert await refusal("string_regex", text="a", pattern="a", max_matches=0) == (
        f"'max_matches' must be from 1 to {MAX_PARTS:,}"
    )


@pytest.mark.requirement("I2.4.2")
@pytest.mark.parametrize(
    ("pattern", "replacement", "expected"),
    [
        (r"(\w+) (?P<last>\w+)", r"\g<last>, \1", "Smith, John 日本"),
        ("Jo", r"<\0>", "<Jo>hn Smith 日本"),
        ("John", r"\\é\t日 {0.__class__}", "\\é\t日 {0.__class__} Smith 日本"),
        ("日|本", "x", "John Smith xx"),
        ("x*", "-", "-J-o-h-n- -S-m-i-t-h- -日-本-"),
        ("nobody", "x", "John Smith 日本"),
    ],
)
async def test_a_pattern_is_replaced(pattern: str, replacement: str, expected: str) -> None:
    told = await handled("string_regex", text="John Smith 日本", pattern=pattern, replacement=replacement)
    assert told["text"] == expected


async def test_all_matches_are_replaced_unless_a_number_is_given() -> None:
    told = await handled("string_regex", text="a" * 20_000, pattern="a", replacement="b")
    assert told == {"text": "b" * 20_000, "replacements": 20_000}
    told = await handled("string_regex", text="aaa", pattern="a", replacement="b", max_matches=1)
    assert told == {"text": "baa", "replacements": 1}


@pytest.mark.requirement("I2.8.4")
@pytest.mark.parametrize("pattern", ["(", "(?=a)", r"(a)\1", "a{1000}{1000}", "a{9999}", "[z-a]", "\\"])
async def test_what_re2_does_not_take_is_refused(pattern: str) -> None:
    assert (await refusal("string_regex", text="a", pattern=pattern)).startswith(
        "'pattern' is no RE2 pattern: "
    )


@pytest.mark.parametrize("replacement", [r"\2", r"\g<no>", "\\", r"\x"])
async def test_a_replacement_with_no_such_group_is_refused(replacement: str) -> None:
    told = await refusal("string_regex", text="a", pattern="(a)", replacement=replacement)
    assert told.endswith("which is no group of the pattern")


@pytest.mark.requirement("I2.4.2", "I2.8.4")
@pytest.mark.parametrize("pattern", ["(a+)+$", "(x+x+)+y", "(a|a)*b", "(a*)*(a*)*b", "(.*)*=.*"])
async def test_a_pattern_that_others_backtrack_on_takes_linear_time(pattern: str) -> None:
    with at_most(units=100):
        await handled("string_regex", text="a" * 100_000, pattern=pattern, max_matches=1)


@pytest.mark.requirement("I2.4.2", "I2.8.4")
async def test_a_search_has_limits_of_time_size_and_output() -> None:
    assert await refusal("string_regex", text=LONG, pattern="a.*?z|a", max_matches=MAX_PARTS) == (
        "The search took longer than 1 s"
    )
    assert "too large for a text" in await refusal("string_regex", text=LONG, pattern="(a?){150}(b?){150}c")
    assert "the limit is 1,000,000" in await refusal(
        "string_regex", text=LONG, pattern="a", replacement="b" * 99
    )
    assert "the limit is 1,000,000" in await refusal("string_regex", text=LONG, pattern="((((a*))))")
    assert "at most 1,000 characters" in await refusal("string_regex", text="a", pattern="a" * 1_001)


def test_a_cancelled_search_ends() -> None:
    context = Context(LOCAL)
    context.cancelled.set()
    with pytest.raises(ToolFailure, match="cancelled"):
        string_regex({"text": "aa", "pattern": "a"}, context)


@pytest.mark.requirement("I2.4.2")
async def test_a_text_is_split_and_joined() -> None:
    assert await handled("string_split", text=" a b  c ") == {"parts": ["a", "b", "c"]}
    assert await handled("string_split", text="a,b,c", separator=",", max_parts=2) == {"parts": ["a", "b,c"]}
    assert await handled("string_split", text="a,b", separator=",", max_parts=1) == {"parts": ["a,b"]}
    assert await handled("string_join", parts=["a", "b"], separator=", ") == {"text": "a, b"}
    assert await handled("string_join", parts=[]) == {"text": ""}


async def test_what_cannot_be_split_or_joined_is_refused() -> None:
    assert (
        await refusal("string_split", text="a", separator="") == "'separator' must have at least 1 character"
    )
    assert "more than 10,000 parts" in await refusal("string_split", text="," * 10_000, separator=",")
    assert await refusal("string_join", parts=["a", 1]) == "'parts[1]' must be a string (got an integer)"
    assert await refusal("string_join", parts="ab") == "'parts' must be an array (got a string)"
    assert "the limit is 1,000,000" in await refusal("string_join", parts=["a"] * 1_000, separator=LONG)


@pytest.mark.requirement("I2.4.2")
async def test_base64_is_encoded_and_decoded() -> None:
    assert await handled("string_base64", text="hé", mode="encode") == {"text": "aMOp"}
    assert await handled("string_base64", text=" aMOp\n", mode="decode") == {"text": "hé"}
    assert await handled("string_base64", text="Pz8_", mode="decode") == {"text": "???"}
    assert await handled("string_base64", text="YQ", mode="decode") == {"text": "a"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a*b=", "'text' is not Base64: "),
        ("a", "'text' is not Base64: "),
        ("é", "'text' is not Base64: "),
        ("_w", "'text' is the Base64 of bytes that are no UTF-8 text"),
    ],
)
async def test_what_is_no_base64_of_a_text_is_refused(text: str, told: str) -> None:
    assert (await refusal("string_base64", text=text, mode="decode")).startswith(told)


@given(st.text())
def test_base64_gives_every_text_back(text: str) -> None:
    assert decoded(encoded(text)) == text


@pytest.mark.requirement("I2.4.2")
@pytest.mark.parametrize(
    ("algorithm", "start", "length"),
    [
        (None, "ca978112", 64),
        ("sha512", "1f40fc92", 128),
        ("sha1", "86f7e437", 40),
        ("md5", "0cc175b9", 32),
        ("blake2b", "333fcb4e", 128),
    ],
)
async def test_a_text_is_hashed(algorithm: str | None, start: str, length: int) -> None:
    more = {} if algorithm is None else {"algorithm": algorithm}
    told = await handled("string_hash", text="a", **more)
    assert told["hash"].startswith(start)
    assert len(told["hash"]) == length
    assert told["algorithm"] == algorithm or algorithm is None


@pytest.mark.requirement("I2.4.2")
async def test_uuids_are_random_or_of_a_name() -> None:
    first, second = [(await handled("string_uuid"))["uuid"] for _ in range(2)]
    assert first != second
    assert uuid.UUID(first).version == 4
    named = await handled("string_uuid", version=5, name="example.org")
    assert named == {"uuid": str(uuid.uuid5(uuid.NAMESPACE_DNS, "example.org"))}
    own = await handled("string_uuid", version=5, name="a", namespace=first)
    assert own == {"uuid": str(uuid.uuid5(uuid.UUID(first), "a"))}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"version": 1}, "'version' must be one of: 4, 5"),
        ({"version": "4"}, "'version' must be an integer (got a string)"),
        ({"version": 5}, "missing 'name'"),
        (
            {"version": 5, "name": "a", "namespace": "x"},
            "'namespace' must be one of dns, url, oid, x500, or a UUID",
        ),
    ],
)
async def test_a_uuid_that_cannot_be_made_is_refused(arguments: dict[str, Any], told: str) -> None:
    assert (await refusal("string_uuid", **arguments)).startswith(told)


@pytest.mark.requirement("I2.8.4")
@pytest.mark.parametrize(
    ("handler", "arguments"),
    [
        ("string_replace", {"text": LONG, "old": "a", "new": "b" * 1_000_000}),
        ("string_case", {"text": "a" * (MAX_OUTPUT + 1), "case": "upper"}),
        ("string_base64", {"text": "a" * (MAX_OUTPUT + 1), "mode": "encode"}),
        ("string_join", {"parts": [LONG, LONG], "separator": ""}),
    ],
)
async def test_a_result_that_would_be_too_large_is_refused_before_it_is_made(
    handler: str, arguments: dict[str, Any]
) -> None:
    assert "the limit is 1,000,000" in await refusal(handler, **arguments)


@pytest.mark.requirement("I2.8.4")
@pytest.mark.parametrize(
    "name",
    [
        "string_case",
        "string_count",
        "string_slice",
        "string_replace",
        "string_regex",
        "string_split",
        "string_join",
        "string_base64",
        "string_hash",
        "math_eval",
        "datetime_parse",
        "datetime_add",
        "datetime_difference",
        "datetime_format",
    ],
)
@pytest.mark.parametrize("value", [None, 5, True, [["x"]], {"a": 1}])
async def test_a_wrong_type_is_invalid_however_loose_the_schema_is(name: str, value: Any) -> None:
    keys = ("text", "expression", "datetime", "start", "parts", "pattern", "old")
    result = await executor_of(builtin(name)).execute(name, dict.fromkeys(keys, value), LOCAL)
    assert result.error_code == "invalid_parameters"
    assert result.error.startswith("Invalid parameters: ")
