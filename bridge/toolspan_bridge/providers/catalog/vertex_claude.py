"""Claude on Google Cloud (Vertex AI): Anthropic's Messages API, with an access token of yours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from typing_extensions import override

from ...formats.names import NameTable
from ...messages import Request
from ..http.settings import HttpSettings
from ..wire.hosted_claude import HostedClaude
from ..wire.provider import WireProvider
from .vertex import VertexAccount, vertex_account

VERSION = "vertex-2023-10-16"


def connect(model: str, settings: HttpSettings) -> WireProvider:
    """As ``vertex``, for Claude: the project and location from the environment. Raises the same."""
    return _VertexClaude(vertex_account("vertex-claude"), settings)


class _VertexClaude(HostedClaude):
    no_list = "Vertex AI does not list the models of a project: write vertex-claude/MODEL"
    served = frozenset({"web_search"})

    def __init__(self, account: VertexAccount, settings: HttpSettings) -> None:
        headers = account.endpoint.request_headers("authorization", "Bearer ")
        super().__init__(account.endpoint, "anthropic", settings, headers)
        self._place = account.place

    @override
    async def _body(self, request: Request, names: NameTable) -> dict[str, Any]:
        """The version is in the body, the model in the address."""
        body = await super()._body(request, names)
        del body["model"]
        return {"anthropic_version": VERSION, **body}

    @override
    def _url(self, model: str) -> str:
        return f"{self._model_url(model)}:rawPredict"

    @override
    def _stream_url(self, model: str) -> str:
        return f"{self._model_url(model)}:streamRawPredict"

    @override
    def _count_url(self) -> str:
        return f"{self._base}/v1/{self._place}/publishers/anthropic/models/count-tokens:rawPredict"

    @override
    def _count(self, model: str, body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        url, counted = super()._count(model, body)
        return url, {"anthropic_version": VERSION, **counted}

    def _model_url(self, model: str) -> str:
        return f"{self._base}/v1/{self._place}/publishers/anthropic/models/{quote(model, safe='@')}"
