"""Gemini on Google Cloud (Vertex AI), v1beta1, with an access token of yours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from typing_extensions import override

from ...errors import UsageError
from ...formats.gemini.options import request_notes
from ...formats.gemini.render import BUILTINS
from ...formats.gemini.search import VERTEX, google_search
from ...formats.names import NameTable
from ...messages import Request
from ..http.settings import HttpSettings
from ..settings.endpoint import Endpoint
from ..settings.environment import base_url, key_from, variable
from ..wire.gemini_provider import GeminiProvider
from ..wire.json_types import is_object
from ..wire.provider import WireProvider

_TOKENS = ("VERTEX_ACCESS_TOKEN", "GOOGLE_OAUTH_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN")
_PROJECT = ("GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT")
_LOCATION = ("GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_REGION")
_BASE = "GOOGLE_VERTEX_BASE_URL"
_MULTI_REGIONS = ("eu", "us")
_PUBLISHED = re.compile(r"(?:publishers/)?([a-z0-9-]+)/(?:models/)?(.+)")
_WITHOUT_IDS = re.compile(r"gemini-[12]\b")


def connect(model: str, settings: HttpSettings) -> WireProvider:
    """Vertex AI, the project and location from the environment; the location is ``global`` unless one is set.

    Raises ``AuthError`` without an access token, ``UsageError`` without a project.
    """
    return _Vertex(vertex_account("vertex"), settings)


@dataclass(frozen=True, slots=True)
class VertexAccount:
    """A project at a location; ``place`` is both as they are in the address of a model."""

    endpoint: Endpoint
    place: str


def vertex_account(name: str) -> VertexAccount:
    """That of the environment, for the provider ``name``.

    Raises ``AuthError`` without an access token, ``UsageError`` without a project.
    """
    token = key_from(name, *_TOKENS, where="gcloud auth print-access-token")
    project = variable(*_PROJECT)[1].strip()
    if not re.fullmatch(r"[A-Za-z0-9.:_-]+", project):
        raise UsageError(
            f"{name} needs a project: set {_PROJECT[0]} to your Google Cloud project's id", variables=_PROJECT
        )
    held, location = variable(*_LOCATION)
    if not re.fullmatch(r"[a-z0-9-]*", location):
        raise UsageError(f"{held} is no location: write it as us-central1, eu or global")
    location = location or "global"
    endpoint = Endpoint(
        name,
        base_url(_address(location), _BASE),
        token,
        variables=f"{' or '.join(_TOKENS)} (tokens age), and the access to the project {project}",
        hint=f"check the network, HTTPS_PROXY, {_LOCATION[0]} and {_BASE}",
    )
    return VertexAccount(endpoint, f"projects/{quote(project, safe='')}/locations/{location}")


class _Vertex(GeminiProvider):
    no_list = "Vertex AI does not list the models of a project: write vertex/MODEL"

    def __init__(self, account: VertexAccount, settings: HttpSettings) -> None:
        headers = account.endpoint.request_headers("authorization", "Bearer ")
        super().__init__(account.endpoint, settings, headers)
        self._place = account.place

    @override
    async def _ready(self, request: Request) -> tuple[Request, tuple[str, ...]]:
        request, _ = await super()._ready(request)
        return request, request_notes(request, BUILTINS, VERTEX)

    @override
    async def _body(self, request: Request, names: NameTable) -> dict[str, Any]:
        """Without what only the Developer API knows: the switch for mixed tools, its settings of the search,
        and ids for older models.
        """
        body = await super()._body(request, names)
        if tools := body.get("tools"):
            body["tools"] = [
                google_search(request, VERTEX) if "googleSearch" in each else each for each in tools
            ]
        if is_object(choice := body.get("toolConfig")):
            unknown = "includeServerSideToolInvocations"
            body["toolConfig"] = {key: value for key, value in choice.items() if key != unknown}
        return _without_ids(body) if _WITHOUT_IDS.search(request.model) else body

    @override
    def _counted(self, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
        known = ("contents", "generationConfig", "systemInstruction", "tools")
        return {key: body[key] for key in known if key in body}

    @override
    def _model_url(self, model: str) -> str:
        named = _PUBLISHED.fullmatch(model)
        publisher, name = named.groups() if named else ("google", model)
        return f"{self._base}/v1beta1/{self._place}/publishers/{publisher}/models/{quote(name, safe='')}"


def _address(location: str) -> str:
    if location == "global":
        return "https://aiplatform.googleapis.com"
    if location in _MULTI_REGIONS:
        return f"https://aiplatform.{location}.rep.googleapis.com"
    return f"https://{location}-aiplatform.googleapis.com"


def _without_ids(body: dict[str, Any]) -> dict[str, Any]:
    contents = [
        {**content, "parts": [_without_id(part) for part in content["parts"]]} for content in body["contents"]
    ]
    return {**body, "contents": contents}


def _without_id(part: Mapping[str, Any]) -> dict[str, Any]:
    return {
        kind: {key: inner for key, inner in value.items() if key != "id"}
        if kind in ("functionCall", "functionResponse") and is_object(value)
        else value
        for kind, value in part.items()
    }
