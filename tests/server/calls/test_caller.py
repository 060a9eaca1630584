"""The user and the conversation of a call, over each transport."""

from __future__ import annotations

from typing import Any

import pytest

from toolspan_server import Context
from toolspan_server.calls.caller import CONVERSATION_KEY, Caller, caller_of
from toolspan_server.errors import InvalidParameters

pytestmark = pytest.mark.requirement("I12.3.8")


def named(conversation: Any) -> Caller:
    return caller_of(Context(meta={CONVERSATION_KEY: conversation}))


def test_a_call_from_nowhere_is_of_the_local_user_in_the_default_conversation() -> None:
    assert caller_of(Context()) == Caller("local", "default")


def test_the_request_names_the_conversation() -> None:
    assert named("c-1") == Caller("local", "c-1")


@pytest.mark.parametrize("name", ["", 7, "x" * 201, ["a"], {}])
def test_a_name_that_is_none_is_refused(name: Any) -> None:
    with pytest.raises(InvalidParameters, match="1 to 200 characters"):
        named(name)
