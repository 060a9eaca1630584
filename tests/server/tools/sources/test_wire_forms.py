"""How arguments of an operation are written, by OpenAPI's table of places, styles, explode and types."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import AsyncGenerator
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_api import Api, Seen, serving
from toolspan_server import Config, running
from toolspan_server.calls.caller import LOCAL

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I26.1.5")]

LIST, OBJECT = ["blue", "black", "brown"], {"R": 100, "G": 200, "B": 150}
FORM = "application/x-www-form-urlencoded"
JSON, OCTETS = "application/json", "application/octet-stream"
# OpenAPI 3.1.1, 4.8.12.4 "Style Examples"; what it calls n/a is not here.
TABLE: list[tuple[str, str | None, bool | None, Any, str]] = [
    ("path", None, None, "blue", "blue"),
    ("path", "simple", False, LIST, "blue,black,brown"),
    ("path", "simple", True, LIST, "blue,black,brown"),
    ("path", "simple", False, OBJECT, "R,100,G,200,B,150"),
    ("path", "simple", True, OBJECT, "R=100,G=200,B=150"),
    ("header", "simple", False, LIST, "blue,black,brown"),
    ("header", "simple", True, LIST, "blue,black,brown"),
    ("header", "simple", False, OBJECT, "R,100,G,200,B,150"),
    ("header", "simple", True, OBJECT, "R=100,G=200,B=150"),
    ("query", None, None, "blue", "color=blue"),
    ("query", None, None, "", "color="),
    ("query", None, None, LIST, "color=blue&color=black&color=brown"),
    ("query", None, None, OBJECT, "R=100&G=200&B=150"),
    ("query", "form", False, LIST, "color=blue,black,brown"),
    ("query", "form", False, OBJECT, "color=R,100,G,200,B,150"),
    ("query", "form", True, LIST, "color=blue&color=black&color=brown"),
    ("query", "form", True, OBJECT, "R=100&G=200&B=150"),
    ("query", "spaceDelimited", False, LIST, "color=blue%20black%20brown"),
    ("query", "spaceDelimited", False, OBJECT, "color=R%20100%20G%20200%20B%20150"),
    ("query", "pipeDelimited", False, LIST, "color=blue%7Cblack%7Cbrown"),
    ("query", "pipeDelimited", False, OBJECT, "color=R%7C100%7CG%7C200%7CB%7C150"),
    ("query", "deepObject", True, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
    ("query", "deepObject", True, {"a": {"b": ["x", {"c": "y"}]}}, "color%5Ba%5D%5Bb%5D%5B0%5D=x"
     "&color%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=y"),
    ("query", "deepObject", True, ["x", "y"], "color%5B0%5D=x&color%5B1%5D=y"),
    ("query", "form", True, ["a b", "c&d=e", "ü"], "color=a%20b&color=c%26d%3De&color=%C3%BC"),
    ("cookie", "form", False, LIST, "color=blue,black,brown"),
    ("cookie", None, None, "blue", "color=blue"),
]  # fmt: skip


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with serving() as api:
        yield api


async def sent(api: Api, folder: Path, operation: dict[str, Any], arguments: dict[str, Any]) -> Seen:
    """What the API got for a call of ``operation``, a POST of ``/x/{id}``."""
    path = {"name": "id", "in": "path", "required": True, "schema": {}}
    operation = {**operation, "operationId": "send", "parameters": operation.get("parameters", [path])}
    description = {
        "openapi": "3.1.0",
        "servers": [{"url": api.url}],
        "paths": {"/x/{id}": {"post": operation}},
    }
    (folder / "api.json").write_text(json.dumps(description))
    source = {"type": "openapi", "file": str(folder / "api.json"), "allow_private": ["127.0.0.1"]}
    async with running(Config.model_validate({"tools": {"sources": [source]}})) as runtime:
        await runtime.settled()
        assert len(runtime.registry) == 1, runtime.source_problems()
        result = await runtime.execute("send", {"id": "7", **arguments}, LOCAL)
        assert result.success, result.error
    return api.seen[-1]


def place_of(seen: Seen, place: str) -> str:
    if place == "path":
        return seen.path.removeprefix("/x/")
    return (
        seen.target.partition("?")[2]
        if place == "query"
        else seen.headers["cookie" if place == "cookie" else "color"]
    )


@pytest.mark.parametrize(("place", "style", "explode", "value", "written"), TABLE, ids=str)
async def test_a_parameter_is_written_as_its_style_says(
    api: Api, tmp_path: Path, place: str, style: str | None, explode: bool | None, value: Any, written: str
) -> None:
    path = {"name": "id", "in": "path", "required": True, "schema": {}}
    color = {"name": "id" if place == "path" else "color", "in": place, "required": True, "schema": {}}
    if style is not None:
        color["style"] = style
    if explode is not None:
        color["explode"] = explode
    parameters = [color] if place == "path" else [path, color]
    seen = await sent(api, tmp_path, {"parameters": parameters}, {color["name"]: value})
    assert place_of(seen, place).replace("%2C", ",").replace("%3D", "=") == written.replace("%3D", "=")


FORMS: list[tuple[dict[str, Any], Any, str]] = [
    ({}, "a b", "v=a%20b"),
    ({}, [1, 2], "v=1&v=2"),
    ({}, {"k": 1}, "v=%7B%22k%22%3A1%7D"),
    ({"style": "deepObject", "explode": True}, {"order": "77"}, "v%5Border%5D=77"),
    ({"style": "deepObject"}, [{"price": "p", "n": [1]}], "v%5B0%5D%5Bprice%5D=p&v%5B0%5D%5Bn%5D%5B0%5D=1"),
    ({"style": "form", "explode": False}, [1, 2], "v=1,2"),
    ({"style": "form", "explode": True}, {"a": 1, "b": 2}, "a=1&b=2"),
    ({"style": "pipeDelimited", "explode": False}, [1, 2], "v=1%7C2"),
    ({"contentType": JSON}, [1, 2], "v=%5B1%2C2%5D"),
]  # fmt: skip


@pytest.mark.parametrize(("encoding", "value", "written"), FORMS, ids=str)
async def test_a_field_of_a_form_is_written_as_its_encoding_says(
    api: Api, tmp_path: Path, encoding: dict[str, Any], value: Any, written: str
) -> None:
    media = {"schema": {"type": "object", "properties": {"v": {}}}, "encoding": {"v": encoding}}
    seen = await sent(api, tmp_path, {"requestBody": {"content": {FORM: media}}}, {"v": value})
    assert (seen.body.decode(), seen.headers["content-type"]) == (written, FORM)


PNG = b"\x89PNG\x00\xff"
ENCODED = b64encode(PNG).decode()
FILE = {"type": "string", "contentMediaType": OCTETS}
PARTS: list[tuple[Any, dict[str, Any], Any, list[tuple[str | None, bool, bytes]]]] = [
    ({"type": "string"}, {}, "text", [(None, False, b"text")]),
    ({"type": "object"}, {}, {"k": 1}, [(JSON, False, b'{"k":1}')]),
    ({"type": "array"}, {}, [1, 2], [(None, False, b"1"), (None, False, b"2")]),
    ({"type": "array"}, {}, [{"k": 1}], [(JSON, False, b'{"k":1}')]),
    ({"type": "array"}, {"contentType": JSON}, [1, 2], [(JSON, False, b"[1, 2]")]),
    ({}, {"contentType": "application/json;charset=utf-8"}, {"k": 1},
     [("application/json;charset=utf-8", False, b'{"k": 1}')]),
    ({"type": "string"}, {"contentType": "text/csv; charset=utf-8"}, "a",
     [("text/csv; charset=utf-8", False, b"a")]),
    (FILE, {}, ENCODED, [(OCTETS, True, PNG)]),
    ({"type": "string", "contentMediaType": "image/png"}, {"contentType": "image/png"}, ENCODED,
     [("image/png", True, PNG)]),
    ({"type": "string", "format": "binary"}, {}, ENCODED, [(OCTETS, True, PNG)]),
    ({"type": "array", "items": FILE}, {}, [ENCODED] * 2,
     [(OCTETS, True, PNG)] * 2),
    ({"type": "string", "contentMediaType": "text/markdown"}, {}, "# A", [(None, False, b"# A")]),
]  # fmt: skip


def parts_of(seen: Seen) -> list[tuple[str | None, bool, bytes]]:
    """The parts of a multipart form: content type, whether it is a file, content."""
    head = f"Content-Type: {seen.headers['content-type']}\r\n\r\n".encode()
    whole = message_from_bytes(head + seen.body)
    parts = [part for part in whole.get_payload() if isinstance(part, Message)]  # type: ignore[union-attr]
    return [
        (part["Content-Type"], part.get_filename() is not None, part.get_payload(decode=True))  # type: ignore[misc]
        for part in parts
    ]


@pytest.mark.requirement("I26.1.4")
@pytest.mark.parametrize(("schema", "encoding", "value", "parts"), PARTS, ids=str)
async def test_a_part_of_a_multipart_form_is_what_its_schema_and_encoding_say(
    api: Api, tmp_path: Path, schema: Any, encoding: dict[str, Any], value: Any, parts: Any
) -> None:
    media = {"schema": {"type": "object", "properties": {"v": schema}}, "encoding": {"v": encoding}}
    body = {"requestBody": {"content": {"multipart/form-data": media}}}
    assert parts_of(await sent(api, tmp_path, body, {"v": value})) == parts


@pytest.mark.parametrize(
    ("kinds", "sent_as"),
    [
        (["*/*"], "application/json"),
        (["application/xml", "application/json"], "application/json"),
        (["application/vnd.a+json"], "application/vnd.a+json"),
        (["application/json; charset=utf-8"], "application/json; charset=utf-8"),
        (["multipart/form-data", FORM], "multipart/form-data"),
        (["application/xml"], "application/xml"),
        (["text/plain"], "text/plain"),
    ],
    ids=str,
)
async def test_the_content_type_is_one_that_the_operation_takes(
    api: Api, tmp_path: Path, kinds: list[str], sent_as: str
) -> None:
    is_text = sent_as in ("application/xml", "text/plain")
    schema = {} if is_text else {"type": "object", "properties": {"v": {"type": "string"}}}
    body = {"requestBody": {"content": {kind: {"schema": schema} for kind in kinds}}}
    seen = await sent(api, tmp_path, body, {"body": "<v/>"} if is_text else {"v": "a"})
    assert seen.headers["content-type"].partition("; boundary")[0] == sent_as
