"""A model provider whose answers are long, or made of very many values or pieces."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.support.answering import answers_until_exit
from tests.support.raw_http import RawClient, request

from ..attack import Attack, Target

_WHOLE = b'{"choices":[{"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}]%s}'
_DELTA = b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n'
_END = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
_WORDS = b"word " * 300_000

WHOLE = {
    "lists": (_WHOLE % (b"hi", b',"x":[' + b"[]," * 10_000_000 + b"1]"), 502),
    "few lists": (_WHOLE % (b"hi", b',"x":[' + b"[]," * 120_000 + b"1]"), 200),
    "keys": (_WHOLE % (b"hi", b',"x":{' + b",".join(b'"%d":1' % n for n in range(200_000)) + b"}"), 200),
    "long": (_WHOLE % (_WORDS, b""), 200),
    "tags": (_WHOLE % (b"a <b> [c] <" * 150_000, b""), 200),
}
STREAMED = {
    "tiny deltas": _DELTA % b"ab cd" * 30_000,
    "large deltas": _DELTA % (b"a" * 20_000) * 400,
    "long": _DELTA % _WORDS,
    "blanks": _DELTA % b" " * 20_000,
    "an event": b'data: {"choices":[{"delta":{"content":"hi"}}],"x":[' + b"[]," * 120_000 + b"1]}\n\n",
}


def _answer(_: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, str], bytes]:
    asked = json.loads(body)
    name = asked["messages"][-1]["content"]
    if not asked.get("stream"):
        return 200, {"content-type": "application/json"}, WHOLE[name][0]
    return 200, {"content-type": "text/event-stream"}, STREAMED[name] + _END


def _config(folder: Path) -> Path:
    path = folder / "toolspan.json"
    tool = {"name": "a", "description": "a", "implementation": {"type": "mock", "mock_response": 1}}
    provider = {"base_url": f"{answers_until_exit(_answer)}/v1"}
    path.write_text(json.dumps({"tools": {"registry": [tool]}, "providers": {"it": provider}}))
    return path


def run(target: Target) -> None:
    """Each is answered, or refused as the provider's fault."""
    cases = [(name, False, status) for name, (_, status) in WHOLE.items()]
    for name, stream, expected in [*cases, *((name, True, 200) for name in STREAMED)]:
        question = [{"role": "user", "content": name}]
        raw = json.dumps({"model": "it/m", "stream": stream, "messages": question}).encode()
        with RawClient(target.server.address) as client:
            head = ("content-type", "application/json"), ("content-length", str(len(raw)))
            status = client.send(request("POST", "/v1/chat/completions", *head), raw).answer().status
        assert status == expected, f"{name}: {status}"


ATTACK = Attack(
    "I24.5.6",
    "long answers of a provider, and answers of many values or pieces",
    run,
    config=_config,
    gateway=True,
    steady=request("GET", "/healthz"),
    memory_mib=300,
    units=3_000,
)
