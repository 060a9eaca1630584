"""JSON-RPC batches, which MCP had in one revision: 2025-03-26, basic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import jsonrpc

MAX_ITEMS = 1_000


class Batch:
    """Messages that came as one array, and whose answers go out as one, once all are there.

    Raises ``Refusal`` for an empty array and for one of more than ``MAX_ITEMS``.
    """

    def __init__(self, items: list[Any], send: Callable[[bytes], None]) -> None:
        if not 1 <= len(items) <= MAX_ITEMS:
            raise jsonrpc.Refusal(
                jsonrpc.INVALID_REQUEST, f"Invalid Request: a batch has 1 to {MAX_ITEMS:,} messages"
            )
        self._send = send
        self._answers: list[bytes] = []
        self._awaited = 1

    def checked(self, item: Any) -> dict[str, Any]:
        """``item`` as a message. Raises ``Refusal`` when it is none, or an ``initialize``."""
        message = jsonrpc.checked(item)
        if message.get("method") == "initialize":
            raise jsonrpc.Refusal(
                jsonrpc.INVALID_REQUEST,
                "Invalid Request: 'initialize' must not be part of a batch",
                message.get("id"),
            )
        return message

    def reply_to(self, message: dict[str, Any]) -> Callable[[bytes | None], None]:
        """Where the answer to ``message`` goes."""
        if "id" in message and "method" in message:
            self._awaited += 1
            return self._answered
        return self.add

    def add(self, answer: bytes | None) -> None:
        """Add an answer that nobody waits for: a refusal."""
        if answer is not None:
            self._answers.append(answer)

    def seal(self) -> None:
        """Every message was taken."""
        self._answered(None)

    def _answered(self, answer: bytes | None) -> None:
        self._awaited -= 1
        self.add(answer)
        if self._awaited == 0 and self._answers:
            self._send(b"[" + b",".join(each.rstrip(b"\n") for each in self._answers) + b"]\n")
