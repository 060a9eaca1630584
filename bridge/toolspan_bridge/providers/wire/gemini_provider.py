"""What speaks Gemini's wire format: the operations on a model are part of its URL."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from typing_extensions import override

from ..http.settings import HttpSettings
from ..settings.endpoint import Endpoint
from .endpoint_provider import EndpointProvider


class GeminiProvider(EndpointProvider):
    """Gemini at ``endpoint``; ``headers`` are sent with every request."""

    def __init__(self, endpoint: Endpoint, settings: HttpSettings, headers: Mapping[str, str]) -> None:
        super().__init__(endpoint, "gemini", settings, headers)

    @override
    def _url(self, model: str) -> str:
        return f"{self._model_url(model)}:generateContent"

    @override
    def _stream_url(self, model: str) -> str:
        return f"{self._model_url(model)}:streamGenerateContent?alt=sse"

    @abstractmethod
    def _model_url(self, model: str) -> str:
        """The URL of ``model``."""
