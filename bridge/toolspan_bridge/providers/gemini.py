"""Google's Gemini over its Developer API, v1beta: the version whose tools take plain JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import quote

from typing_extensions import override

from ..formats import WireError
from ._http import Answer, HttpSettings
from ._settings import base_url, key_from
from ._shapes import is_list, is_object
from ._wire import WireProvider

_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
_BASE = "GOOGLE_GEMINI_BASE_URL"


def connect(model: str, settings: HttpSettings) -> WireProvider:
    """Gemini, with ``GEMINI_API_KEY`` or ``GOOGLE_API_KEY``. Raises ``AuthError`` when neither is set."""
    return _Gemini(key_from("gemini", *_KEYS, where="https://aistudio.google.com/apikey"), settings)


class _Gemini(WireProvider):
    def __init__(self, key: str, settings: HttpSettings) -> None:
        super().__init__(
            "gemini",
            "gemini",
            base_url("https://generativelanguage.googleapis.com", _BASE),
            settings,
            variables=" or ".join(_KEYS),
            hint=f"check the network, HTTPS_PROXY and {_BASE}",
            secret=key,
        )
        self._sent = {"content-type": "application/json", "x-goog-api-key": key}

    @override
    def _url(self, model: str) -> str:
        family, slash, name = model.partition("/")
        if not (slash and family in ("models", "tunedModels")):
            family, name = "models", model
        return f"{self._base}/v1beta/{family}/{quote(name, safe='')}:generateContent"

    @override
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return self._sent

    @override
    def _refuses_key(self, answer: Answer, error: WireError) -> bool:
        return super()._refuses_key(answer, error) or "API_KEY_INVALID" in _reasons(answer.content)


def _reasons(content: bytes) -> set[str]:
    """Each detail's ``reason``: Gemini refuses a key with 400, and only this tells it from other 400s."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return set()
    first = body[0] if is_list(body) and body else body
    error = first.get("error") if is_object(first) else None
    details = error.get("details") if is_object(error) else None
    found = [item.get("reason") for item in details if is_object(item)] if is_list(details) else []
    return {reason for reason in found if isinstance(reason, str)}
