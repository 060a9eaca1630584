"""What the code of a tool raised, whatever that is, in words."""

from __future__ import annotations

import asyncio

import pytest
from typing_extensions import override

from toolspan_server.common.exceptions import innermost, message_of, traceback_of
from toolspan_server.engines.isolation._result_encoding import decoded_error, encoded_error

pytestmark = pytest.mark.requirement("I10.4.6")


class Unspeakable(Exception):
    @override
    def __str__(self) -> str:
        raise SystemExit(1)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("no"), "no"),
        (ValueError(), "ValueError"),
        (Unspeakable(), "Unspeakable"),
        (KeyboardInterrupt("now"), "The tool raised KeyboardInterrupt: now"),
        (asyncio.CancelledError(), "The tool's own work was cancelled"),
        (ExceptionGroup("two", [ExceptionGroup("one", [ValueError("deep")])]), "deep"),
    ],
)
def test_a_handler_in_a_worker_process_says_the_same_as_one_in_a_thread(
    error: BaseException, message: str
) -> None:
    assert message_of(innermost(error)) == message
    assert str(decoded_error(encoded_error(error))) == message


def test_a_traceback_is_had_of_what_cannot_be_written() -> None:
    assert "Unspeakable" in traceback_of(Unspeakable())
