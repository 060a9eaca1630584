"""What the ``prompt`` format may send: Chat Completions with no tools in it."""

from __future__ import annotations

from typing import Any

from . import common, openai
from .chat_rows import OPEN, ChatRules

check_schema = common.check_schema


def check_request(body: Any, row: ChatRules = OPEN) -> None:
    openai.check_request(body, row)
    assert not {"parallel_tool_calls", "tool_choice", "tools"} & body.keys()
    assert all(message["role"] in ("assistant", "system", "user") for message in body["messages"])
    assert not any("tool_calls" in message for message in body["messages"])
