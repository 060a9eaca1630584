"""The API of a provider over HTTP: requests with its key, and its refusals as exceptions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from toolspan_server.common.secrets.redaction import redactor_of

from ...errors import AuthError, BridgeError, ProviderError, UnknownModelError
from ...formats import WireError, get_format
from ...messages import Request
from ..http.client import HttpClient, HttpResponse
from ..http.settings import HttpSettings
from ..settings.endpoint import Endpoint
from .refusals import advice, lengths, refusal
from .wire_request import encode

if TYPE_CHECKING:
    from .recording import Recorder

_HEAD = 8
"""The characters of a secret that tell it from other words."""


class ProviderApi(ABC):
    """The API at ``endpoint``, in one wire format. The endpoint's secrets are removed from error messages."""

    searches_tools = True
    price_share = 1.0

    def __init__(self, endpoint: Endpoint, wire_format: str, settings: HttpSettings) -> None:
        self.name = endpoint.name
        self.format_name = wire_format
        self._endpoint = endpoint
        self._base = endpoint.base
        self._format = get_format(wire_format)
        limiter = settings.limiters.of(endpoint.identity, endpoint.name) if settings.limiters else None
        self._client = HttpClient(
            endpoint.name, endpoint.base, settings, endpoint.hint, self._redact, limiter
        )
        self._prompted = False
        self._recorder: Recorder | None = None

    @abstractmethod
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        """The headers of one attempt, with the key or signature."""

    @property
    def base_url(self) -> str:
        """The address before the paths of requests."""
        return self._base

    @property
    def account(self) -> str:
        """What requests are counted for there: the hash of the address and the key."""
        return self._endpoint.identity

    @property
    def _origin(self) -> str:
        return self._endpoint.account or self.name

    @property
    def batch_service(self) -> str:
        """The module of ``toolspan_bridge.batch.services`` for its batches of requests; empty for none."""
        return self._endpoint.batches

    async def exchange(
        self,
        method: Literal["GET", "POST"],
        path: str,
        body: bytes = b"",
        *,
        content_type: str = "",
        max_bytes: int = 0,
        once: bool = False,
    ) -> bytes:
        """The content of the answer to another request than a question, at ``path`` after the base address.

        ``once``: it is not repeated where it may have been carried out. Raises as ``answer``.
        """

        async def headers(url: str, sent: bytes) -> Mapping[str, str]:
            own = await self._headers(url, sent)
            return {**own, "content-type": content_type} if content_type else own

        url, read_error = f"{self._base}{path}", self._format.parse_error
        answer = await self._client.send(
            method, url, body, headers, read_error, once=once, max_bytes=max_bytes
        )
        if answer.status == 404:
            found = self._redact(read_error(404, answer.headers, answer.content).message)
            raise ProviderError(f"{self.name} at {self._base} has no {path} (404: {found})", status=404)
        if not 200 <= answer.status < 300:
            raise self._failure(answer, "")
        return answer.content

    def path_of(self, url: str) -> str:
        """What follows the base address in ``url``."""
        return url.removeprefix(self._base)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def recorded(self, recorder: Recorder) -> None:
        """From now on, write each exchange by ``recorder``."""
        self._recorder = recorder

    async def _post(self, url: str, body: dict[str, Any]) -> HttpResponse:
        return await self._client.post(url, encode(body), self._headers, self._format.parse_error)

    async def _record(self, request: Request, url: str, body: bytes, answer: HttpResponse) -> None:
        if self._recorder is None:
            return
        from .recording import Exchange

        kind = answer.headers.get("content-type", "")
        exchange = Exchange(
            self.name, self.format_name, request, url, body, answer.status, kind, answer.content
        )
        await self._recorder.keep(exchange, self._redact)

    def _nonsense(self, found: str, status: int = 200) -> ProviderError:
        return ProviderError(
            f"{self.name} at {self._base} did not answer as its API does: {self._redact(found)}",
            status=status,
        )

    def _failure(self, answer: HttpResponse, model: str) -> BridgeError:
        if answer.status < 400:
            return ProviderError(
                f"{self.name} at {self._base} answered {answer.status}, a redirect: set the final address",
                status=answer.status,
            )
        error = self._format.parse_error(answer.status, answer.headers, answer.content)
        return self._refusal(answer, error, model)

    def _refusal(self, answer: HttpResponse, error: WireError, model: str, how: str = "") -> BridgeError:
        reported = self._redact(error.message)
        tool = self._redact(error.tool) if isinstance(error.tool, str) else error.tool
        error = replace(
            error, kind=self._redact(error.kind), parameter=self._redact(error.parameter), tool=tool
        )
        tries = f" (after {answer.attempts} attempts)" if answer.attempts > 1 else ""
        later = f"; try again in {answer.asked:g} s" if answer.asked else ""
        if self._refuses_key(answer, error):
            checked = self._endpoint.variables
            return AuthError(
                f"{self.name} refused the request ({answer.status}: {reported}): check {checked}"
            )
        if answer.status == 404 and error.fault == "other":
            return UnknownModelError(
                f"{self.name} at {self._base} knows no {model!r} (404: {reported}){self._model_hint(model)}",
                status=404,
                kind=error.kind,
            )
        head = f"{how or f'answered {answer.status}'} {error.kind}".rstrip(" :")
        said = f"{self.name} {head}: {reported}"
        return refusal(
            error,
            f"{said}{lengths(error)}{later}{tries}",
            answer.status,
            advice(error, self.name, model, prompted=self._prompted),
        )

    def _refuses_key(self, answer: HttpResponse, error: WireError) -> bool:
        if error.fault in ("content", "credit"):
            return False
        return answer.status in (401, 403) or error.fault == "key"

    def _model_hint(self, model: str) -> str:
        return ""

    def _redact(self, text: str) -> str:
        secrets = self._endpoint.secrets
        return _without_beginnings(redactor_of(frozenset(secrets), "[key]")(text), secrets)


def _without_beginnings(text: str, secrets: Iterable[str]) -> str:
    """``text`` without what is left of ``secrets`` where an excerpt was cut within one."""
    for secret in secrets:
        head, rest = secret[:_HEAD], secret[_HEAD:]
        if not rest:
            continue
        first, *others = text.split(head)
        text = first + "".join(f"[key]{each[_in_common(each, rest) :]}" for each in others)
    return text


def _in_common(text: str, other: str) -> int:
    """How many characters both begin with."""
    return next(
        (n for n, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other))
    )
