"""Web APIs, MCP servers and pages whose answers are made of very many values, or in a slow charset."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from tests.support.answering import answers_until_exit
from tests.support.raw_http import RawClient, tool_call
from tests.support.served import tool, write_config

from ..attack import Attack, Target


def _of(values: int) -> dict[str, bytes]:
    """JSON of as many values."""
    return {
        "keys": b"{%s}" % b",".join(b'"%d":1' % n for n in range(values)),
        "numbers": b"[%s1]" % (b"1," * values),
        "lists": b"[%s1]" % (b"[]," * (values // 2)),
        "objects": b"[%s1]" % (b'{"a":1},' * (values // 2)),
    }


_MANY, _MOST, _MOST_OF_UPSTREAM = _of(300_000), _of(240_000), _of(98_000)
_ANSWER = b'{"jsonrpc":"2.0","id":%s,%s}'
_UNKNOWN = b'"error":{"code":-32601,"message":"no such method"}'
_HELLO: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "x", "version": "1"},
}
_PAGES = {
    "text": ("text/plain; charset=windows-1252", b"\x81" * 5_000_000),
    "pairs": ("text/plain; charset=utf-16-le", b"\x00\xd8" * 2_500_000),
    "html": ("text/html; charset=windows-1252", b"<!doctype html><p>" + b"\x81 " * 2_000_000),
}


def _answer(request: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, str], bytes]:
    part, _, name = request.path.strip("/").partition("/")
    if part == "page":
        return 200, {"content-type": _PAGES[name][0]}, _PAGES[name][1]
    if part != "mcp":
        return 200, {"content-type": "application/json"}, (_MANY if part == "many" else _MOST)[name]
    asked = json.loads(body or b"{}")
    if "id" not in asked:
        return 202, {}, b""
    answer = _ANSWER % (json.dumps(asked["id"]).encode(), _result(asked) or _UNKNOWN)
    return 200, {"content-type": "application/json"}, answer


def _result(asked: dict[str, Any]) -> bytes:
    match asked["method"]:
        case "initialize":
            return b'"result":%s' % json.dumps(_HELLO).encode()
        case "tools/list":
            return b'"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}'
        case "tools/call":
            given = asked["params"]["arguments"]
            value = (_MANY if given["size"] == "many" else _MOST_OF_UPSTREAM)[given["shape"]]
            return b'"result":{"content":[],"structuredContent":{"x":%s}}' % value
        case _:
            return b""


def _config(folder: Path) -> Path:
    url = answers_until_exit(_answer)
    reads = {"path": ".", "web_fetch": {"allow_private": ["127.0.0.1"]}}
    services = {"upstreams": {"up": {"url": f"{url}/mcp"}}, "workspaces": {"w": reads}}
    config = write_config(folder, services=services)
    content = json.loads(config.read_text())
    http = {"type": "http", "url": f"{url}/{{size}}/{{shape}}", "allow_private": ["127.0.0.1"]}
    texts = {name: {"type": "string"} for name in ("size", "shape")}
    parameters = {"type": "object", "properties": texts, "required": list(texts)}
    content["tools"]["registry"].append(tool("api", http, parameters=parameters))
    sources = [{"type": "mcp", "upstream": "up", "prefix": "up."}, {"type": "workspace", "workspace": "w"}]
    content["tools"]["sources"] = sources
    config.write_text(json.dumps(content))
    (folder / "url").write_text(url)
    return config


def run(target: Target) -> None:
    """Too many values are refused; the most that are not, and pages, are results."""
    url = (target.folder / "url").read_text()
    with RawClient(target.server.address) as client:
        for name in ("api", "up.t"):
            for size, shape in ((size, shape) for size in ("many", "most") for shape in _MANY):
                said = client.send(tool_call(name, {"size": size, "shape": shape})).answer().body
                assert (b"values" in said) == (size == "many"), f"{name}, {size} {shape}: {said[:500]!r}"
        for page in _PAGES:
            said = client.send(tool_call("WebFetch", {"url": f"{url}/page/{page}"})).answer().body
            assert b'"isError":true' not in said, f"{page}: {said[:500]!r}"


ATTACK = Attack(
    "I24.5.6",
    "answers of web APIs, MCP servers and pages that take long to read",
    run,
    config=_config,
    memory_mib=300,
    descriptors=2,
    units=2_000,
    stalls=1.5,  # the SDK reads the largest messages of a server on the event loop
)
