"""Ollama's own API: a local server by default, ollama.com with a key."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from typing_extensions import override

from ..errors import UsageError
from ..formats.names import NameTable
from ..messages import Request
from ._http import HttpSettings
from ._settings import key_from, optional_key, variable
from ._shapes import is_object
from ._wire import WireProvider, encode

_LEAST_CONTEXT = 8192
_ANSWER_TOKENS = 2048
_BYTES_PER_TOKEN = 3
_CLOUD = "ollama.com"


def connect(model: str, settings: HttpSettings) -> WireProvider:
    """Ollama at ``OLLAMA_HOST``. Raises ``AuthError`` for ollama.com without ``OLLAMA_API_KEY``."""
    base = host_url(variable("OLLAMA_HOST")[1])
    cloud = urlsplit(base).hostname == _CLOUD
    key = key_from("ollama.com", "OLLAMA_API_KEY") if cloud else optional_key("OLLAMA_API_KEY")
    return _Ollama(base, key, settings)


def host_url(text: str) -> str:
    """The base URL that ``OLLAMA_HOST`` means: a host, host:port, or URL, as Ollama itself reads it.

    The port is 11434 unless the scheme is written out; an address that a server listens on (``0.0.0.0``) is
    this machine to a client. Raises ``UsageError`` when it is none of these.
    """
    written = text.strip().strip("\"'")
    scheme, found, rest = written.partition("://")
    if not found:
        scheme, rest = ("https" if written.split("/")[0] == _CLOUD else "http"), written
    port = {"http": 80, "https": 443}.get(scheme, 0) if found or scheme == "https" else 11434
    address, _, path = rest.partition("/")
    if address.count(":") > 1 and not address.startswith("["):
        address = f"[{address}]"
    try:
        parts = urlsplit(f"//{address}")
        host, port = parts.hostname or "127.0.0.1", port if parts.port is None else parts.port
    except ValueError:
        port = 0
        host = ""
    if not port or "@" in address or not (address.isprintable() and " " not in written):
        raise UsageError("OLLAMA_HOST is no address: write it as host, host:port or http://host:port")
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{port}/{path}".rstrip("/")


class _Ollama(WireProvider):
    def __init__(self, base: str, key: str, settings: HttpSettings) -> None:
        local = "is `ollama serve` running? Another address goes into OLLAMA_HOST"
        super().__init__(
            "ollama",
            "ollama",
            base,
            settings,
            variables="OLLAMA_API_KEY and OLLAMA_HOST",
            hint=local,
            secret=key,
        )
        self._sent = {"content-type": "application/json"}
        if key:
            self._sent["authorization"] = f"Bearer {key}"
        self._contexts: dict[str, int] = {}

    @override
    def _url(self, model: str) -> str:
        return f"{self._base}/api/chat"

    @override
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return self._sent

    @override
    async def _body(self, request: Request, names: NameTable) -> dict[str, Any]:
        """The request with a context that holds it: Ollama's own is small, and what does not fit is dropped
        without a word. ``truncate`` and ``shift`` turn that dropping into an error."""
        body = await super()._body(request, names)
        needed = len(encode(body)) / _BYTES_PER_TOKEN + (request.max_tokens or _ANSWER_TOKENS)
        options = {
            **body.get("options", {}),
            "num_ctx": context_for(needed, await self._context(request.model)),
        }
        return {**body, "options": options, "truncate": False, "shift": False}

    async def _context(self, model: str) -> int:
        """The model's own context in tokens, 0 when the server does not tell."""
        if model not in self._contexts:
            answer = await self._post(f"{self._base}/api/show", {"model": model})
            if answer.status != 200:
                return 0  # the question itself meets the same error, and reports it
            self._contexts[model] = _context_length(answer.content)
        return self._contexts[model]

    @override
    def _model_hint(self, model: str) -> str:
        return f": fetch it with `ollama pull {model}`"


def context_for(needed: float, longest: int) -> int:
    """Tokens of context for a request that needs about ``needed``: a power of two, so that a growing
    conversation seldom makes Ollama load the model again; at most the model's ``longest`` (0: not known)."""
    size = 1 << math.ceil(math.log2(max(needed, _LEAST_CONTEXT)))
    return min(size, longest) if longest else size


def _context_length(content: bytes) -> int:
    try:
        shown = json.loads(content)
    except (ValueError, RecursionError):
        return 0
    info = shown.get("model_info") if is_object(shown) else None
    if not is_object(info):
        return 0
    lengths = [value for key, value in info.items() if key.endswith(".context_length")]
    return next((value for value in lengths if isinstance(value, int) and value > 0), 0)
