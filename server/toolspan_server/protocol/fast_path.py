"""The short path: plain requests, answered without the SDK.

Plain is what most clients send: ``initialize``, ``server/discover``, ``ping``, ``tools/list`` of the first
page and ``tools/call``, in the shape that the specification gives. Whatever is not recognised whole (other
keys, cursors, tasks, wrong types) is ``None`` here and goes the long way, so that the two ways
cannot differ in what they refuse; so do the calls of tools that talk to their client, and what has to wait
for the sources of tools. A progress token is plain, and so is a log level of 2026-07-28: the others report no
progress and log nothing, and "the receiver is not obligated to provide these notifications" (MCP 2025-11-25,
schema, ``RequestParams``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from typing_extensions import override

from .._version import __version__
from ..calls.caller import Origin
from ..calls.client import Level
from ..common import trace_context as trace
from ..errors import RequestRefused
from ..live.served_tool import ServedTool
from ..live.views import View
from ..tools.registry import Tool
from .messages import jsonrpc, wire
from .messages.capabilities import capabilities
from .messages.pagination import written_tools

MODERN_VERSION = "2026-07-28"
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LATEST_HANDSHAKE_VERSION = HANDSHAKE_VERSIONS[-1]

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_RESERVED = "io.modelcontextprotocol/"
_ENVELOPE = frozenset({VERSION_KEY, _CAPABILITIES_KEY, _CLIENT_KEY, _LEVEL_KEY})
_CALL_KEYS = frozenset({"name", "arguments", "_meta"})
_INITIALIZE_KEYS = frozenset({"protocolVersion", "capabilities", "clientInfo"})
_CLIENT_KEYS = frozenset({"name", "version", "title", "description", "websiteUrl"})
_LEVELS: tuple[str, ...] = get_args(Level)
PREVIEW_METHOD = "dev.toolspan/preview"
"""The request by which our own client asks how a call would run (``engines.definitions.call_preview``)."""

_NOTHING: Mapping[str, Any] = {}


@dataclass(slots=True, eq=False)
class Call:
    """A plain ``tools/call`` of a tool that exists; it is made once its origin is known."""

    request_id: jsonrpc.RequestId
    served: ServedTool
    arguments: dict[str, Any] | None
    meta: Mapping[str, Any]
    version: str
    _path: FastPath

    @property
    def tool(self) -> Tool:
        return self.served.tool

    async def run(self, origin: Origin) -> bytes:
        """Make the call for ``origin``; gives the whole answer, one line of JSON."""
        trace.log_call(self.tool.name, self.meta)
        try:
            result = await self.served.run(self.arguments, origin, self.meta)
        except RequestRefused as refused:
            return jsonrpc.encode(jsonrpc.error(self.request_id, refused.code, refused.message, refused.data))
        stamp = self._path.stamp if self.version == MODERN_VERSION else ""
        return jsonrpc.framed(self.request_id, wire.encode_result(result, self.version, stamp))


class PreviewCall(Call):
    """A ``dev.toolspan/preview`` of a call: it answers what a person is to be shown, and runs nothing."""

    @override
    async def run(self, origin: Origin) -> bytes:
        """Give the preview, and its digest; one line of JSON."""
        try:
            preview = await self._path.view.preview(self.served, self.arguments or {}, origin, self.meta)
        except RequestRefused as refused:
            return jsonrpc.encode(jsonrpc.error(self.request_id, refused.code, refused.message, refused.data))
        return _answer(self.request_id, {**preview.as_dict(), "digest": preview.digest})


class FastPath:
    """Answers the plain requests to ``view``. ``identity`` is on modern results, by ``stamp``.

    With ``previews`` it also says how calls would run, which only whoever started this server may ask: on
    stdio.
    """

    def __init__(self, view: View, *, previews: bool = False) -> None:
        self.view = view
        self._previews = previews
        self.identity: Mapping[str, Any] = {_SERVER_KEY: _identity(view)}
        self.stamp = "," + jsonrpc.dumps(self.identity)[1:-1]
        self._usual_envelope: Mapping[str, Any] | None = None
        self._listings: dict[bool, tuple[tuple[int, tuple[str, ...]], str]] = {}

    def initialize(self, message: Mapping[str, Any]) -> tuple[bytes, str] | None:
        """The answer to a plain ``initialize`` and the revision that it settles; else ``None``."""
        params = _plain_initialize(message.get("params"))
        if params is None:
            return None
        asked: str = params["protocolVersion"]
        settled = asked if asked in HANDSHAKE_VERSIONS else LATEST_HANDSHAKE_VERSION
        result = {
            "protocolVersion": settled,
            "capabilities": capabilities(self.view, modern=False),
            "serverInfo": self.identity[_SERVER_KEY],
            **self._instructions(),
        }
        return _answer(message["id"], result), settled

    def answer(self, message: Mapping[str, Any], version: str) -> bytes | Call | None:
        """The answer to a plain request on a connection that speaks ``version``, or the call to make."""
        modern = version == MODERN_VERSION
        params = _plain_params(message.get("params"), self._plain_envelope if modern else None)
        if params is None:
            return None
        method = message["method"]
        if method == "tools/call":
            return self._call(message["id"], params, version)
        if method == PREVIEW_METHOD and self._previews:
            return self._preview(message["id"], params, version)
        if params.keys() - {"_meta"}:
            return None
        if method == "tools/list":
            if not self.view.is_settled:
                return None
            return jsonrpc.framed(message["id"], self._listing(modern=modern))
        if method == "ping" and not modern:
            return jsonrpc.framed(message["id"], "{}")
        if method == "server/discover" and modern:
            return _answer(message["id"], self._discovery())
        return None

    def _call(
        self, request_id: jsonrpc.RequestId, params: Mapping[str, Any], version: str
    ) -> bytes | Call | None:
        name: Any = params.get("name")
        arguments: Any = params.get("arguments")
        if not (params.keys() <= _CALL_KEYS and isinstance(name, str)):
            return None
        if arguments is not None and not isinstance(arguments, dict):
            return None
        served = self.view.tool(name)
        if served is None:
            if not self.view.is_settled:
                return None
            fault = wire.unknown_tool(name)
            return jsonrpc.encode(jsonrpc.error(request_id, fault.code, fault.message))
        if served.tool.talks or served.tool.config.task is not None:
            return None
        given = cast("dict[str, Any] | None", arguments)
        return Call(request_id, served, given, params.get("_meta", _NOTHING), version, self)

    def _preview(
        self, request_id: jsonrpc.RequestId, params: Mapping[str, Any], version: str
    ) -> PreviewCall | None:
        name, arguments = params.get("name"), params.get("arguments")
        served = self.view.tool(name) if isinstance(name, str) else None
        if served is None or not isinstance(arguments, dict) or not params.keys() <= _CALL_KEYS:
            return None
        given = cast("dict[str, Any]", arguments)
        return PreviewCall(request_id, served, given, params.get("_meta", _NOTHING), version, self)

    def _plain_envelope(self, meta: Mapping[str, Any]) -> bool:
        """``_plain_envelope``, with the last envelope cached: clients repeat theirs."""
        if meta == self._usual_envelope:
            return True
        plain = _plain_envelope(meta)
        if plain and meta.keys() <= _ENVELOPE:
            self._usual_envelope = meta
        return plain

    def _listing(self, *, modern: bool) -> str:
        """The result of ``tools/list``, its first page, made once for each era."""
        state, known = (self.view.version, self.view.problems), self._listings.get(modern)
        if known is None or known[0] != state:
            revision = MODERN_VERSION if modern else LATEST_HANDSHAKE_VERSION
            text = written_tools(self.view, revision, self.identity if modern else {})
            known = self._listings[modern] = (state, text)
        return known[1]

    def _discovery(self) -> dict[str, Any]:
        return {
            "supportedVersions": [MODERN_VERSION],
            "capabilities": capabilities(self.view, modern=True),
            "resultType": "complete",
            "ttlMs": 0,
            "cacheScope": "private",
            **self._instructions(),
            "_meta": self.identity,
        }

    def _instructions(self) -> dict[str, str]:
        instructions = self.view.instructions
        return {} if instructions is None else {"instructions": instructions}


def is_modern(message: Mapping[str, Any]) -> bool:
    """Whether a request carries the modern era's envelope (``initialize`` never does)."""
    params = message.get("params")
    if message.get("method") == "initialize" or not isinstance(params, dict):
        return False
    meta: Any = cast("dict[str, Any]", params).get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def _identity(view: View) -> dict[str, str]:
    described = {} if view.description is None else {"description": view.description}
    return {"name": view.name, "version": __version__, **described}


def _answer(request_id: jsonrpc.RequestId, result: Mapping[str, Any]) -> bytes:
    return jsonrpc.framed(request_id, jsonrpc.dumps(result))


def _plain_params(
    params: Any, modern: Callable[[Mapping[str, Any]], bool] | None
) -> Mapping[str, Any] | None:
    """``params`` when their envelope is plain for the era; no params are none."""
    if params is None:
        return None if modern else _NOTHING
    if not isinstance(params, dict):
        return None
    known = cast("dict[str, Any]", params)
    meta: Any = known.get("_meta")
    if meta is None:
        return None if modern or "_meta" in known else known
    if not isinstance(meta, dict):
        return None
    entries = cast("dict[str, Any]", meta)
    plain = modern(entries) if modern else _plain_meta(entries)
    return known if plain else None


def _plain_envelope(meta: Mapping[str, Any]) -> bool:
    """The version served, capabilities, perhaps the client's name and a log level; nothing else that is
    reserved."""
    return (
        meta.get(VERSION_KEY) == MODERN_VERSION
        and _plain_capabilities(meta.get(_CAPABILITIES_KEY))
        and (_CLIENT_KEY not in meta or _plain_client(meta[_CLIENT_KEY]))
        and (_LEVEL_KEY not in meta or meta[_LEVEL_KEY] in _LEVELS)
        and (meta.keys() <= _ENVELOPE or _plain_meta({key: meta[key] for key in meta.keys() - _ENVELOPE}))
    )


def _plain_meta(meta: Mapping[str, Any]) -> bool:
    """Whether ``meta`` asks for nothing but perhaps progress: no task, no other era."""
    for key, value in meta.items():
        if key.startswith(_RESERVED) or key == "progress_token":
            return False
        if key == "progressToken" and (isinstance(value, bool) or not isinstance(value, int | str)):
            return False
    return True


def _plain_initialize(params: Any) -> dict[str, Any] | None:
    if not isinstance(params, dict):
        return None
    known = cast("dict[str, Any]", params)
    plain = (
        known.keys() == _INITIALIZE_KEYS
        and isinstance(known["protocolVersion"], str)
        and _plain_capabilities(known["capabilities"])
        and _plain_client(known["clientInfo"])
    )
    return known if plain else None


_PLAIN_ROOTS: tuple[dict[str, bool], ...] = ({}, {"listChanged": True}, {"listChanged": False})


def _plain_capabilities(value: Any) -> bool:
    """Objects of objects, as the specification has them, and ``roots.listChanged``.

    None changes an answer here: no tool that is called here asks the client for anything.
    """
    return value == {} or (
        isinstance(value, dict)
        and all(
            item in _PLAIN_ROOTS if key == "roots" else _nested_objects(item)
            for key, item in cast("dict[str, Any]", value).items()
        )
    )


def _nested_objects(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_nested_objects, cast("dict[str, Any]", value).values()))


def _plain_client(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    client = cast("dict[str, Any]", value)
    texts = all(isinstance(item, str) for item in client.values())
    return texts and {"name", "version"} <= client.keys() <= _CLIENT_KEYS
