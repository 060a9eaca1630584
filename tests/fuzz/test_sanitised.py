"""A fuzzer of what results become: whatever a handler gives, what goes out is plain JSON within the limit."""

from __future__ import annotations

import json
import os
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.cost import at_most
from tests.support.waiting import BOUND_S
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.content import ABSENT, Content
from toolspan_server.calls.context import Context
from toolspan_server.errors import ToolFailure
from toolspan_server.tools.executor.steps.sanitise import sanitised

pytestmark = [pytest.mark.long, pytest.mark.requirement("I9.5.2")]

SECONDS = float(os.environ.get("TOOLSPAN_FUZZ_SECONDS", "0"))
UNITS = 1_000
EXAMPLES = 60 + int(10 * SECONDS)

TEXTS = st.one_of(
    st.text(st.characters(), max_size=40),
    st.sampled_from(["\ud800", "a\udcffb", "\x00", "\u202e", "é" * 50, "x" * 3_000, '"\\' * 100, "😀" * 30]),
)
SCALARS = st.one_of(
    TEXTS,
    st.none() | st.booleans() | st.integers() | st.floats(),
    st.sampled_from([10**4_001, -(10**4_100), b"bytes", {1, 2}, object, float("inf")]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inside: st.one_of(
        st.lists(inside, max_size=6),
        st.tuples(inside, inside),
        st.dictionaries(TEXTS | st.integers() | st.none() | st.booleans(), inside, max_size=5),
    ),
    max_leaves=30,
)
BLOCKS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS),
    st.builds(lambda data: {"type": "image", "data": data, "mimeType": "image/png"}, TEXTS),
    st.builds(lambda text: {"type": "resource", "resource": {"uri": "a://b", "text": text}}, TEXTS),
    st.dictionaries(TEXTS, VALUES, max_size=3),
)
RESULTS = VALUES | st.builds(
    Content,
    st.lists(BLOCKS, max_size=40).map(tuple),
    st.just(ABSENT) | st.dictionaries(TEXTS, VALUES, max_size=4),
)


def passed(result: Any, max_bytes: int) -> Any:
    async def given(arguments: dict[str, Any], context: Context) -> Any:
        return result

    step = sanitised(given, max_bytes, lambda text: text.replace("secret", "***"))

    async def ran() -> Any:
        with anyio.fail_after(BOUND_S):
            return await step({}, Context(LOCAL))

    return anyio.run(ran)


def plain(value: Any) -> int:
    """The bytes of ``value`` as strict JSON."""
    return len(json.dumps(value, allow_nan=False, ensure_ascii=False).encode())


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(result=RESULTS, max_bytes=st.sampled_from([1, 40, 256, 4_096, 1 << 20]))
def test_what_a_handler_gives_goes_out_as_plain_json_within_the_limit(result: Any, max_bytes: int) -> None:
    with at_most(units=UNITS):
        try:
            sent = passed(result, max_bytes)
        except ToolFailure as failure:
            assert failure.error
            return
    if isinstance(sent, Content):
        structured = 0 if sent.structured is ABSENT else plain(sent.structured)
        assert plain(list(sent.blocks)) + structured < 6 * max_bytes + 4_096
    else:
        assert plain(sent) < 6 * max_bytes + 1_024
