"""The clients of Ollama and Mistral, over a connection in memory: what they send when they are asked for what
a body of ours asks for, and what they read of an answer. Imported late: they are heavy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

SENT_BESIDES = {"truncate", "shift"}
"""What Ollama's server takes of a chat and ``ollama`` 0.6.3 has no argument for."""


class _Peer:
    """Answers each request with ``reply``, and keeps what it was asked."""

    def __init__(self) -> None:
        self.reply = b""
        self.kind = "application/json"
        self.asked: dict[str, Any] = {}

    def answer(self, request: Any, response: Any) -> Any:
        self.asked = json.loads(request.read())
        return response(200, content=self.reply, headers={"content-type": self.kind})


@cache
def _ollama() -> tuple[_Peer, Any]:
    from httpx import MockTransport, Response
    from ollama import Client

    peer = _Peer()
    transport = MockTransport(lambda request: peer.answer(request, Response))
    return peer, Client("http://ollama.test", transport=transport)


@cache
def _mistral() -> tuple[_Peer, Any]:
    from httpx2 import Client, MockTransport, Response
    from mistralai.client import Mistral

    peer = _Peer()
    transport = MockTransport(lambda request: peer.answer(request, Response))
    return peer, Mistral(api_key="sk-test", client=Client(transport=transport))


def asked_of_ollama(body: dict[str, Any]) -> dict[str, Any]:
    """The body that ``ollama`` sends for ``body``. Raises ``TypeError`` for an argument that it lacks."""
    peer, client = _ollama()
    peer.reply, asked = b'{"message": {"role": "assistant"}, "done": true}\n', dict(body)
    for name in SENT_BESIDES:
        asked.pop(name, None)
    list(_chunks(client.chat(**asked), bool(body.get("stream"))))
    return peer.asked


def read_by_ollama(content: bytes, *, stream: bool) -> list[dict[str, Any]]:
    """What ``ollama`` gives for an answer: its pieces, or the one that is whole."""
    peer, client = _ollama()
    peer.reply = content
    found = client.chat(model="m", messages=[], stream=stream)
    return [part.model_dump(exclude_none=True) for part in _chunks(found, stream)]


def asked_of_mistral(body: dict[str, Any]) -> dict[str, Any]:
    """The body that ``mistralai`` sends for ``body``. Raises ``TypeError`` for an argument that it lacks, and
    its own errors for what is not of its types."""
    peer, client = _mistral()
    if body.get("stream"):
        peer.reply, peer.kind = b"data: [DONE]\n\n", "text/event-stream"
        list(client.chat.stream(**body))
    else:
        whole = {
            "id": "c",
            "object": "chat.completion",
            "model": "m",
            "created": 1,
            "usage": {},
            "choices": [],
        }
        peer.reply, peer.kind = json.dumps(whole).encode(), "application/json"
        client.chat.complete(**body)
    return peer.asked


def unkept(sent: Any, read: Any, at: str = "") -> Iterator[str]:
    """Where ``read`` does not hold what ``sent`` has: ``/messages/*/tool_call_id`` and the like."""
    if isinstance(sent, dict) and isinstance(read, dict):
        for key, value in sent.items():
            if key in read:
                yield from unkept(value, read[key], f"{at}/{key}")
            else:
                yield f"{at}/{key}"
    elif isinstance(sent, list) and isinstance(read, list) and len(sent) == len(read):
        for mine, its in zip(sent, read, strict=True):
            yield from unkept(mine, its, f"{at}/*")
    elif sent != read:
        yield at


def _chunks(found: Any, stream: bool) -> Iterable[Any]:
    return found if stream else [found]
