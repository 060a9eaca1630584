"""A provider that speaks a wire format over HTTP: render, post, parse, and say what went wrong."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from ..errors import AuthError, BridgeError, ProviderError, UnknownModelError
from ..formats import FormatError, WireError, get_format
from ..formats.names import NameTable
from ..messages import Reply, Request
from ._http import Answer, HttpClient, HttpSettings


def encode(body: Any) -> bytes:
    """``body`` as JSON, compact. Half surrogate pairs, which UTF-8 cannot hold, become ``?``."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


class WireProvider(ABC):
    """What the providers over HTTP share. ``variables`` says what to check when the key is refused."""

    def __init__(
        self,
        name: str,
        wire_format: str,
        base: str,
        settings: HttpSettings,
        *,
        variables: str,
        hint: str,
        secret: str = "",
    ) -> None:
        self.name = name
        self.format_name = wire_format
        self._base = base
        self._format = get_format(wire_format)
        self._client = HttpClient(name, base, settings, hint)
        self._variables = variables
        self._secret = secret

    @abstractmethod
    def _url(self, model: str) -> str:
        """Where questions to ``model`` go."""

    @abstractmethod
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        """The headers of one attempt, with the key or signature."""

    async def _body(self, request: Request, names: NameTable) -> dict[str, Any]:
        return self._format.render_request(request, names)

    async def answer(self, request: Request) -> Reply:
        """One answer of the provider. Raises as ``Provider.answer`` does."""
        body = await self._body(request, NameTable.of(request.tools))
        answer = await self._post(self._url(request.model), body)
        if not 200 <= answer.status < 300:
            raise self._failure(answer, request.model)
        try:
            return self._format.parse_reply(answer.content)
        except FormatError as error:
            raise ProviderError(
                f"{self.name} at {self._base} did not answer as its API does: {self._redact(str(error))}",
                status=answer.status,
            ) from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _post(self, url: str, body: dict[str, Any]) -> Answer:
        return await self._client.post(url, encode(body), self._headers, self._format.parse_error)

    def _failure(self, answer: Answer, model: str) -> BridgeError:
        if answer.status < 400:
            return ProviderError(
                f"{self.name} at {self._base} answered {answer.status}, a redirect: set the final address",
                status=answer.status,
            )
        error = self._format.parse_error(answer.status, answer.headers, answer.content)
        said = self._redact(error.message)
        tries = f" (after {answer.attempts} attempts)" if answer.attempts > 1 else ""
        later = f"; try again in {answer.asked:g} s" if answer.asked else ""
        if self._refuses_key(answer, error):
            return AuthError(
                f"{self.name} refused the request ({answer.status}: {said}): check {self._variables}"
            )
        if answer.status == 404:
            return UnknownModelError(
                f"{self.name} at {self._base} knows no {model!r} (404: {said}){self._model_hint(model)}",
                status=404,
                kind=error.kind,
            )
        return ProviderError(
            f"{self.name} answered {answer.status} {self._redact(error.kind)}: {said}{later}{tries}",
            status=answer.status,
            kind=error.kind,
        )

    def _refuses_key(self, answer: Answer, error: WireError) -> bool:
        return answer.status in (401, 403)

    def _model_hint(self, model: str) -> str:
        return ""

    def _redact(self, text: str) -> str:
        return text.replace(self._secret, "[key]") if self._secret else text
