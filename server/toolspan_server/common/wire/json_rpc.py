"""Messages of JSON-RPC between this program and one peer, told with their method and id."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, cast

from .tap import WireMessage, WireTap, on_wire

_MOST_OPEN = 1_000
_MOST_HEADS = 20


class JsonRpcWire:
    """Tells ``tap`` what goes to ``peer`` and comes from it. An answer is told with the method that it
    answers."""

    def __init__(self, tap: WireTap, peer: str, redact: Callable[[str], str] = str) -> None:
        self._tap = tap
        self._peer = peer
        self._redact = redact
        self._asked: dict[tuple[bool, str], str] = {}

    def sent(self, text: str | bytes, by: str = "") -> None:
        """Tell of ``text``, which goes to the peer, ``by`` what (the status of an answer, an event)."""
        self._tell(text, by, sent=True)

    def received(self, text: str | bytes, by: str = "") -> None:
        """Tell of ``text``, which came from the peer, ``by`` what (a request of HTTP)."""
        self._tell(text, by, sent=False)

    def note(self, head: str, *, sent: bool, body: str | bytes = "") -> None:
        """Tell of what is no message of JSON-RPC."""
        self._tap.message(WireMessage(self._peer, sent, head, body, redact=self._redact))

    def _tell(self, text: str | bytes, by: str, *, sent: bool) -> None:
        by = by and f"{by}: "
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            self.note(f"{by}what is no JSON", sent=sent, body=text)
            return
        messages = list(cast("Sequence[Any]", value)) if isinstance(value, list) else [value]
        heads = "; ".join(self._head(each, sent=sent) for each in messages[:_MOST_HEADS])
        self.note(f"{by}{heads}", sent=sent, body=text)

    def _head(self, message: Any, *, sent: bool) -> str:
        if not isinstance(message, dict):
            return "what is no message"
        known = cast("dict[str, Any]", message)
        method, number = known.get("method"), known.get("id")
        if method is not None and "id" not in known:
            return str(method)
        key = json.dumps(number)
        if method is not None:
            if len(self._asked) >= _MOST_OPEN:
                del self._asked[next(iter(self._asked))]
            self._asked[sent, key] = str(method)
            return f"{method}, id {key}"
        what = "error" if "error" in known else "result"
        return f"{what} of {self._asked.pop((not sent, key), 'a request')}, id {key}"


def json_rpc_wire(peer: str, redact: Callable[[str], str] = str) -> JsonRpcWire | None:
    """What tells of the messages with ``peer``; ``None`` where nobody wants to see them."""
    tap = on_wire.get()
    return None if tap is None else JsonRpcWire(tap, peer, redact)
