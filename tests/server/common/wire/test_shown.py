"""A message of the wire as text: its secrets are taken out of the whole, then it is cut."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest

from toolspan_server.common.wire.named_secrets import without_named_secrets
from toolspan_server.common.wire.shown import MOST_CHARACTERS, SecretsSeen, shown
from toolspan_server.common.wire.split_secrets import without_split_secrets
from toolspan_server.common.wire.tap import WireMessage, secrets_of_headers

pytestmark = pytest.mark.requirement("I13.2.51")
SECRET = "hunter2-and-more"


def hiding(secret: str) -> Callable[[str], str]:
    return lambda text: text.replace(secret, "***")


def body_of(body: str | bytes, redact: Callable[[str], str] = str, **more: str) -> str:
    return shown(WireMessage("peer", True, "head", body, **more), redact)[1]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ('{"api_key": "a\\"b", "x": "y"}', '{"api_key": "***", "x": "y"}'),
        (
            r'{"arguments":"{\"password\": \"a b\", \"x\": 1}"}',
            r'{"arguments":"{\"password\": \"***\", \"x\": 1}"}',
        ),
        (r'{"a":"{\"token\": \"ab","next":"x\"y"}', r'{"a":"{\"token\": \"***","next":"x\"y"}'),
        ('{"access_token":"a","expires_in":3600}', '{"access_token":"***","expires_in":3600}'),
        ("GET https://h/x?key=a&q=1&api_key=b#f", "GET https://h/x?key=***&q=1&api_key=***#f"),
        ("POST /messages/?session_id=0f1", "POST /messages/?session_id=***"),
        ("grant=x&client_secret=a&y=1", "grant=x&client_secret=***&y=1"),
        ("Authorization: Bearer a b\r\nX: y", "Authorization: ***\r\nX: y"),
        ("Cookie: a=b; c=d", "Cookie: ***"),
        ("curl -H Bearer abcdefgh.ijk", "curl -H Bearer ***"),
    ],
)
def test_what_is_called_a_secret_is_taken_out(text: str, clean: str) -> None:
    assert without_named_secrets(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        '{"max_tokens": 5, "progressToken": "abc", "password": {"type": "string"}, "required": ["token"]}',
        '{"name": "token", "tokens": "many", "description": "the key of the house"}',
    ],
)
def test_counts_schemas_and_names_stay(text: str) -> None:
    assert without_named_secrets(text) == text


def test_backslashes_and_quotes_without_end_cost_no_more_than_their_length() -> None:
    for hostile in ("\\" * 300_000, '"' * 300_000, '\\"' * 100_000, '"secret":"' * 20_000, "a" * 300_000):
        assert len(without_named_secrets(hostile)) <= len(hostile) + 3 * hostile.count("secret")


def test_a_secret_in_pieces_of_several_events_is_taken_out_and_the_rest_stays() -> None:
    pieces = ["It is ", SECRET[:5], SECRET[5:9], SECRET[9:] + " for", " you"]
    lines = [f"data: {json.dumps({'id': 'c', 'd': [{'text': piece}]})}\n\n" for piece in pieces]
    clean = without_split_secrets("".join(lines), hiding(SECRET)).splitlines()
    told = [json.loads(line.removeprefix("data: "))["d"][0]["text"] for line in clean if line]
    assert told == ["It is ", "***", "", " for", " you"]
    assert clean[0] == lines[0].strip()


@pytest.mark.parametrize("start", ["", "data: ", "data:"])
def test_it_is_so_in_lines_of_json_and_in_events(start: str) -> None:
    text = "".join(f"{start}{json.dumps({'delta': letter})}\n" for letter in SECRET)
    clean = without_split_secrets(text, hiding(SECRET))
    assert clean.count("***") == 1
    assert clean.count('"delta": ""') == len(SECRET) - 1


def test_a_stream_without_such_pieces_is_as_it_was() -> None:
    text = 'event: x\ndata: {"a": "one"}\n\ndata: {"a":"two"}\n\ndata: {broken\n\ndata: [DONE]\n\n'
    assert without_split_secrets(text, hiding(SECRET)) == text


def test_the_whole_is_looked_through_before_it_is_cut() -> None:
    text = ". " * (MOST_CHARACTERS // 2 - 4) + SECRET + " and the rest" * 10
    found = body_of(text, hiding(SECRET))
    assert SECRET[:4] not in found
    assert found.endswith(
        f"({len(text) - len(SECRET) + 3 - MOST_CHARACTERS:,} more of "
        f"{len(text) - len(SECRET) + 3:,} characters)"
    )


def test_base64_is_short_and_bytes_are_counted() -> None:
    picture = base64.b64encode(bytes(range(256)) * 40).decode()
    found = body_of(json.dumps({"image": picture, "x": "y"}))
    assert f"{len(picture):,} characters without a break" in found
    assert len(found) < 300 and found.endswith('"x": "y"}')
    assert body_of(b"\xff\xfe\x00", kind="image/png") == "(3 bytes of image/png that are no text)"


def test_secrets_of_headers_are_their_values_and_parts() -> None:
    basic = base64.b64encode(b"ann:open sesame").decode()
    headers = [
        ("Authorization", "Bearer abcdefgh"),
        ("Cookie", "sid=longvalue1; x=y"),
        ("Content-Type", "application/json"),
        ("X-Api-Key", "keykeykey"),
        ("Proxy-Authorization", f"Basic {basic}"),
    ]
    found = set(secrets_of_headers(headers))
    assert {"abcdefgh", "longvalue1", "keykeykey", basic, "open sesame"} <= found
    assert "application/json" not in found and "x" not in found


def test_of_secrets_that_went_over_the_wire_the_last_ones_are_kept() -> None:
    seen = SecretsSeen()
    for number in range(1_000):
        seen.add([f"secret-number-{number}."])
    assert seen.redact("secret-number-999.") == "***"
    assert seen.redact("secret-number-1.") == "secret-number-1."
