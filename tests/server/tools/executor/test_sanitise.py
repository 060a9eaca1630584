"""What leaves a tool: plain JSON without secrets, no larger than the limit."""

from __future__ import annotations

import dataclasses
import enum
import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolspan_server import Context, ToolFailure
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.content import ABSENT, Content
from toolspan_server.tools.executor._truncation import cut
from toolspan_server.tools.executor.steps.sanitise import sanitised

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.4.1")]

LIMIT = 10_000


async def sent(value: Any, max_bytes: int = LIMIT, redact: Callable[[str], str] | None = None) -> Any:
    async def give(arguments: dict[str, Any], context: Context) -> Any:
        return value

    return await sanitised(give, max_bytes, redact)({}, Context(LOCAL))


async def refusal(value: Any) -> str:
    with pytest.raises(ToolFailure) as raised:
        await sent(value)
    assert raised.value.error_code == "execution_error"
    return raised.value.error


class Pair(NamedTuple):
    left: int
    right: int


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclasses.dataclass
class Point:
    x: int


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize("value", [None, True, 0, -1.5, "", "é", [], {}, {"a": [1, {"b": None}]}])
async def test_plain_json_leaves_as_it_is(value: Any) -> None:
    assert repr(await sent(value)) == repr(value)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ((1, (2,)), [1, [2]]),
        (Pair(1, 2), [1, 2]),
        ({1: "a"}, {"1": "a"}),
        (OrderedDict(a=Colour.RED), {"a": "red"}),
        ([Level.HIGH], [3]),
    ],
)
async def test_what_json_can_hold_in_another_form_is_converted(value: Any, plain: Any) -> None:
    result = await sent(value)
    assert repr(result) == repr(plain)


async def test_a_lone_surrogate_leaves_as_its_escape() -> None:
    assert await sent({"na\udcffme": "\ud83d\ude00 half \ud83d"}) == {
        "na\\udcffme": "\\ud83d\\ude00 half \\ud83d"
    }


@pytest.mark.requirement("I2.8.4")
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": [0, float("nan")]}, "'a[1]' that is NaN"),
        (float("inf"), "a result that is Infinity"),
        ({"a": {"b": 10**4000}}, "'a.b' that is an integer of more than 4,000 digits"),
        ({"a": {1, 2}}, "'a' that is of the Python type set"),
        ({"p": Point(1)}, "'p' that is of the Python type Point"),
        ([b"x"], "'[0]' that is of the Python type bytes"),
        (object, "a result that is of the Python type type"),
        ({(1, 2): 3}, "is a key of the Python type tuple"),
        ({True: 3}, "is a key of the Python type bool"),
        ({1: 2, "1": 3}, "has two keys that are the same in JSON"),
        (deep(65), "is nested more than 64 levels deep"),
    ],
)
async def test_what_json_cannot_hold_is_an_error_that_names_the_field(value: Any, told: str) -> None:
    assert told in await refusal(value)


async def test_a_result_of_64_levels_is_sent() -> None:
    assert await sent(deep(64)) == deep(64)


async def test_a_result_that_contains_itself_is_an_error() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert "nested more than 64 levels" in await refusal(endless)


@pytest.mark.long
async def test_a_small_result_that_unfolds_without_bound_is_cut() -> None:
    value: Any = ["leaf"]
    for _ in range(40):
        value = [value, {"a": value}]
    result = await sent(value)
    assert result.startswith("[[[[[[")
    assert "the whole result has more than " in result
    assert len(json.dumps(result).encode()) <= LIMIT


@pytest.mark.requirement("I2.8.4")
async def test_a_text_that_is_too_large_is_cut_and_says_the_whole_size() -> None:
    result = await sent("é" * 100_000)
    assert result.startswith("ééé")
    assert result.endswith("[cut here: the whole result has 200,000 bytes, the limit is 10,000]")
    assert LIMIT * 0.9 < len(json.dumps(result, ensure_ascii=False).encode()) <= LIMIT


@pytest.mark.requirement("I2.8.4")
async def test_any_other_result_that_is_too_large_becomes_its_json_cut() -> None:
    rows = [{"row": number, "text": "x" * 20} for number in range(20_000)]
    result = await sent(rows)
    size = len(json.dumps(rows).encode())
    assert result.startswith('[{"row": 0, "text": "xxx')
    assert f"the whole result has {size:,} bytes" in result
    assert len(json.dumps(result).encode()) <= LIMIT


async def test_a_result_of_exactly_the_limit_is_not_cut() -> None:
    text = "x" * (LIMIT - 2)
    assert await sent(text) == text
    assert (await sent(text + "x")).endswith("]")


async def test_secrets_are_taken_out_of_every_text_also_of_keys() -> None:
    result = await sent({"k-abc": ["abc", 1]}, redact=lambda text: text.replace("abc", "***"))
    assert result == {"k-***": ["***", 1]}


async def test_the_result_is_a_copy() -> None:
    kept = {"a": [1]}
    (await sent(kept))["a"].append(2)
    assert kept == {"a": [1]}


async def test_a_large_result_is_worked_on_beside_the_event_loop() -> None:
    loop_ran = threading.Event()

    def waiting_for_the_loop(text: str) -> str:
        assert loop_ran.wait(120)
        return text

    async with anyio.create_task_group() as group:
        group.start_soon(sent, [0] * 20_000 + ["last"], LIMIT * 10, waiting_for_the_loop)
        await anyio.wait_all_tasks_blocked()
        loop_ran.set()


@pytest.mark.requirement("I9.1.1")
@pytest.mark.parametrize("limit", [0, 1, 30, 60])
def test_a_cut_without_room_for_a_start_is_the_marker_alone(limit: int) -> None:
    assert cut("x" * 1_000, limit, "1,000").startswith("\n[cut here: the whole result has 1,000 bytes")


@pytest.mark.requirement("I9.1.1")
@pytest.mark.parametrize("other", [{}, {"annotations": {"audience": "x" * 3_000}}])
@pytest.mark.parametrize("first", [*range(3_900, 4_100, 7), 5_000])
async def test_texts_that_fit_one_by_one_but_not_together_are_cut_at_the_limit(
    first: int, other: dict[str, Any]
) -> None:
    blocks = ({"type": "text", "text": "a" * first}, {"type": "text", "text": "b" * 4_000, **other})
    result = await sent(Content(blocks * 10), max_bytes=4_096)
    assert len(json.dumps(result.blocks).encode()) < 4_096 + 300
    assert "more; the limit of a result is 4,096]" in result.blocks[-1]["text"]


@pytest.mark.requirement("I9.1.1")
@pytest.mark.parametrize("count", [5_000, 60_000])
async def test_any_number_of_blocks_is_sent_as_far_as_it_fits(count: int) -> None:
    blocks = tuple({"type": "text", "text": str(number)} for number in range(count))
    result = await sent(Content(blocks), max_bytes=100_000)
    whole, last = result.blocks[:-1], result.blocks[-1]["text"]
    assert whole == blocks[: len(whole)]
    assert len(whole) > 2_500
    assert f" and {count - len(whole) - 1:,} more; the limit of a result is 100,000]" in last


@pytest.mark.requirement("I9.1.1")
async def test_structured_content_and_meta_that_are_too_large_are_left_out_aloud() -> None:
    large = {"rows": ["x" * 100] * 1_000}
    result = await sent(Content(({"type": "text", "text": "first"},), large, large))
    assert (result.structured, result.meta) == (ABSENT, {})
    assert [block["text"].partition(" of ")[0] for block in result.blocks] == [
        "first",
        "[left out here: structured content",
        "[left out here: _meta",
    ]


@given(st.text(st.characters(exclude_categories=())), st.integers(150, 1_000))
def test_a_cut_text_is_always_valid_and_within_the_limit(text: str, limit: int) -> None:
    plain = text.encode("utf-8", "backslashreplace").decode()
    result = cut(plain * 50, limit, "1")
    assert len(json.dumps(result, ensure_ascii=False).encode()) <= limit
    assert "[cut here: " in result


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.binary(max_size=3)
    | st.sets(st.integers(), max_size=2),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner)
        | st.dictionaries(st.text(max_size=3) | st.integers() | st.booleans(), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(anything)
def test_whatever_a_handler_gives_leaves_as_strict_json_or_as_a_failure(value: Any) -> None:
    try:
        result = anyio.run(sent, value)
    except ToolFailure as failure:
        assert failure.error.startswith("The tool gave a result")
    else:
        text = json.dumps(result, allow_nan=False, ensure_ascii=False)
        assert json.loads(text.encode()) == result
