"""No value of a client, a provider or an MCP server ends the process or is answered by a traceback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.hostile_parts import MODEL, USUAL, Parts, hostile_parts

pytestmark = [pytest.mark.long, pytest.mark.requirement("I24.4.1")]

ASK = {"role": "user", "content": "x"}
BIG = "1" + "0" * 400
CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
USUAL_ASK = f'"model":"{MODEL}","messages":[{json.dumps(ASK)}]'
REQUESTS: dict[str, tuple[str, str]] = {
    "a surrogate in the model": (CHAT, r'{"model":"\ud800","messages":[{"role":"user","content":"x"}]}'),
    "a surrogate in Messages": (MESSAGES, r'{"model":"\udfff","max_tokens":1,"messages":[]}'),
    "a surrogate in Responses": (RESPONSES, r'{"model":"\ud800","input":"x"}'),
    "a surrogate in a key": (CHAT, rf'{{{USUAL_ASK},"\ud800":1}}'),
    "max_tokens of 400 digits": (CHAT, f'{{{USUAL_ASK},"max_tokens":{BIG}}}'),
    "max_tokens of Messages": (MESSAGES, f'{{{USUAL_ASK},"max_tokens":{BIG}}}'),
    "max_output_tokens": (RESPONSES, f'{{"model":"{MODEL}","max_output_tokens":{BIG},"input":"x"}}'),
    "2 to the 63": (CHAT, f'{{{USUAL_ASK},"max_tokens":{2**63}}}'),
    "a temperature beyond doubles": (CHAT, f'{{{USUAL_ASK},"temperature":1e999}}'),
    "NaN": (CHAT, f'{{{USUAL_ASK},"temperature":NaN}}'),
    "5,000 digits": (CHAT, f'{{{USUAL_ASK},"seed":{"9" * 5_000}}}'),
    "100 levels": (CHAT, f'{{{USUAL_ASK},"x":{"[" * 100}{"]" * 100}}}'),
    "100,000 levels": (CHAT, "[" * 100_000),
    "100,002 values": (CHAT, f'{{{USUAL_ASK},"x":[{",".join("0" * 100_002)}]}}'),
    "a long pattern": (
        CHAT,
        json.dumps(
            {
                "model": MODEL,
                "messages": [ASK],
                "tools": [
                    {"type": "function", "function": {"name": "t", "parameters": {"pattern": "a" * 9_999}}}
                ],
            }
        ),
    ),
}
QUERIES = (
    "activity?since=0001-01-01T00:00:00Z",
    "activity?until=0001-01-01T00:00:00Z",
    "activity/summary?until=0001-01-01T00:00:00Z",
    "activity/summary?since=0001-01-01T00:00:00%2B14:00",
    "activity/summary?since=9999-12-31T23:59:59Z",
    "activity/summary?until=9999-12-31T23:59:59-14:00",
    f"activity?since={BIG}",
    f"activity?limit={BIG}",
    "activity?model=%ED%A0%80",
    "activity?cursor=W10",
    f"conversations?limit={BIG}",
    "conversations?search=%ED%A0%80",
)
RESULTS: dict[str, Any] = {
    "a surrogate in the code": {"success": False, "error": "no", "error_code": "\ud800"},
    "a surrogate in the error": {"success": False, "error": "\udfff", "error_code": "x"},
    "a long code": {"success": False, "error": "no", "error_code": "x" * 1_000_000},
}


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    with hostile_parts(tmp_path_factory.mktemp("hostile")) as running:
        yield running


def test_requests_that_cannot_be_used_are_refused_and_the_app_goes_on(parts: Parts) -> None:
    for name, (path, body) in REQUESTS.items():
        reply = parts.ask(path, raw=body.encode())
        assert (name, reply.status) == (name, 400), reply.body
        assert reply.json["error"]["message"]
        parts.check()


def test_no_value_of_a_query_is_a_defect(parts: Parts) -> None:
    for query in QUERIES:
        reply = parts.ask(f"/api/{query}", method="GET")
        assert reply.status < 500, (query, reply.body)
    parts.check()


def test_every_status_of_a_provider_becomes_one_of_http(parts: Parts) -> None:
    for status in (199, 204, 301, 304, 399, 418, 600, 700, 999):
        parts.provider.answer = (status, b'{"error":{"message":"no"}}')
        assert 400 <= parts.ask(CHAT, {"model": MODEL, "messages": [ASK]}).status < 600, status
    parts.check()


@pytest.mark.parametrize("path", [CHAT, MESSAGES, RESPONSES])
def test_tokens_that_nobody_can_count_are_none_and_what_is_recorded_is_kept(parts: Parts, path: str) -> None:
    input_ = {"input": "x"} if path == RESPONSES else {"max_tokens": 9, "messages": [ASK]}
    for count in (2**63, 2**64, 10**30, 10**400, -(2**70), 1.5e300, "many", None):
        usage = dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), count)
        parts.provider.answer = (200, json.dumps({**USUAL, "usage": usage}).encode())
        reply = parts.ask(path, {"model": MODEL, **input_})
        assert reply.status == 200, (count, reply.body)
        parts.check()
        last = parts.ask("/api/activity?kind=run&limit=1", method="GET").json["activity"][0]
        assert (last["status"], last["input_tokens"]) == ("ok", 0), count


def test_a_surrogate_in_what_a_provider_says_is_written_out(parts: Parts) -> None:
    for member in ("id", "model", "created"):
        parts.provider.answer = (200, json.dumps({**USUAL, member: "\ud800"}).encode())
        assert parts.ask(CHAT, {"model": MODEL, "messages": [ASK]}).status == 200
    parts.check()


def test_no_result_of_an_mcp_server_ends_the_app(parts: Parts) -> None:
    for result in RESULTS.values():
        for milliseconds in ("1", BIG, "1e300", "-1", '"x"'):
            content = [{"type": "text", "text": json.dumps(result)}]
            meta = f'{{"execution_time_ms":{milliseconds}}}'
            parts.result.write_text(f'{{"content":{json.dumps(content)},"isError":true,"_meta":{meta}}}')
            body = {"server": "hostile", "name": "t", "arguments": {}, "approved": True}
            reply = parts.ask("/api/tools/call", body)
            assert reply.status == 200, reply.body
            assert reply.json["success"] is False
    parts.check()
    assert parts.ask("/api/activity?kind=tool&limit=1", method="GET").status == 200


def test_no_bytes_of_a_header_are_a_defect(parts: Parts) -> None:
    names = (b"authorization", b"idempotency-key", b"last-event-id", b"x-toolspan-cache", b"accept")
    for name in names:
        for value in (b"\x80\xff", b"\xed\xa0\x80", b"a\tb", "é".encode(), b"a" * 3_000):
            for line in (b"GET /api/activity HTTP/1.1", b"GET /v1/models HTTP/1.1"):
                assert parts.send(line, name + b": " + value) < 500
    parts.check()
