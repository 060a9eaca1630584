"""Google's Gemini over its Developer API, v1beta: the version whose tools take plain JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from typing_extensions import override

from toolspan_server.common.json_values import read_foreign_json

from ...formats import WireError
from ..http.client import HttpResponse
from ..http.settings import HttpSettings
from ..settings.endpoint import Endpoint
from ..settings.environment import base_url, key_from
from ..wire.gemini_provider import GeminiProvider
from ..wire.json_types import is_list, is_object
from ..wire.model_facts import Page, gemini_page
from ..wire.provider import WireProvider

_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
_BASE = "GOOGLE_GEMINI_BASE_URL"


def connect(model: str, settings: HttpSettings) -> WireProvider:
    """Gemini, with ``GEMINI_API_KEY`` or ``GOOGLE_API_KEY``. Raises ``AuthError`` when neither is set."""
    key = key_from("gemini", *_KEYS, where="https://aistudio.google.com/apikey")
    base = base_url("https://generativelanguage.googleapis.com", _BASE)
    hint = f"check the network, HTTPS_PROXY and {_BASE}"
    endpoint = Endpoint("gemini", base, key, " or ".join(_KEYS), hint, batches="gemini")
    return _Gemini(endpoint, settings)


def connect_to(endpoint: Endpoint, settings: HttpSettings) -> WireProvider:
    """The provider of Gemini's Developer API at ``endpoint``."""
    return _Gemini(endpoint, settings)


class _Gemini(GeminiProvider):
    def __init__(self, endpoint: Endpoint, settings: HttpSettings) -> None:
        super().__init__(endpoint, settings, endpoint.request_headers("x-goog-api-key"))

    @override
    def _model_url(self, model: str) -> str:
        family, slash, name = model.partition("/")
        if not (slash and family in ("models", "tunedModels")):
            family, name = "models", model
        return f"{self._base}/v1beta/{family}/{quote(name, safe='')}"

    @override
    def _counted(self, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
        named = model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
        return {"generateContentRequest": {"model": named, **body}}

    @override
    def _read_page(self, content: bytes) -> Page:
        return gemini_page(content)

    @override
    def _list_url(self, after: str) -> str:
        mark = f"&pageToken={quote(after, safe='')}" if after else ""
        return f"{self._base}/v1beta/models?pageSize=1000{mark}"

    @override
    def _refuses_key(self, answer: HttpResponse, error: WireError) -> bool:
        return super()._refuses_key(answer, error) or "API_KEY_INVALID" in _reasons(answer.content)


def _reasons(content: bytes) -> set[str]:
    """Each detail's ``reason``: Gemini refuses a key with 400, and only this distinguishes that 400."""
    try:
        body = read_foreign_json(content)
    except ValueError:
        return set()
    first = body[0] if is_list(body) and body else body
    error = first.get("error") if is_object(first) else None
    details = error.get("details") if is_object(error) else None
    found = [item.get("reason") for item in details if is_object(item)] if is_list(details) else []
    return {reason for reason in found if isinstance(reason, str)}
