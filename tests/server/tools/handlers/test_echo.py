"""``echo``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.executors import builtin, executor_of
from toolspan_server.calls.caller import LOCAL

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("I2.4.2")
@pytest.mark.parametrize("arguments", [{}, {"message": "hi"}, {"a": [1, {"b": None}], "é": "日本"}])
async def test_echo_gives_back_what_it_got(arguments: dict[str, Any]) -> None:
    assert (await executor_of(builtin("echo")).execute("echo", arguments, LOCAL)).result == {
        "echo": arguments
    }
