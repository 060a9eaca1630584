"""Every wire format spoken with a provider on loopback: what holds for one path must hold for all."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType

from typing_extensions import override

from tests.support.fake_providers import Sent
from tests.support.provider_settings import instant
from toolspan_bridge.providers.http.settings import HttpSettings
from toolspan_bridge.providers.settings.endpoint import Endpoint
from toolspan_bridge.providers.wire.provider import WireProvider

FORMATS = ("anthropic", "bedrock", "bedrock-anthropic", "gemini", "ollama", "openai", "openai-responses")
KEY = "sk-very-secret"

_TYPES = {
    "bedrock": "application/vnd.amazon.eventstream",
    "bedrock-anthropic": "application/vnd.amazon.eventstream",
    "ollama": "application/x-ndjson",
}


class Peer(WireProvider):
    """A provider that speaks ``wire_format`` at ``base``; a stream has an address of its own."""

    def __init__(self, wire_format: str, base: str, settings: HttpSettings | None = None) -> None:
        endpoint = Endpoint("acme", base, KEY, variables="ACME_KEY", hint="check it")
        super().__init__(endpoint, wire_format, settings or instant())

    @override
    def _url(self, model: str) -> str:
        return f"{self._base}/ask"

    @override
    def _stream_url(self, model: str) -> str:
        return f"{self._base}/ask-in-pieces"

    @override
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return {"content-type": "application/json", "authorization": f"Bearer {KEY}"}


def wires(wire_format: str) -> ModuleType:
    """How the format's answers are written (``tests.support.wires``)."""
    return import_module(f"tests.support.wires.{wire_format.replace('-', '_')}")


def streamed(
    wire_format: str, *frames: bytes, hang_up: bool = False, stall: bool = False, drip: bytes = b""
) -> Sent:
    """A stream of ``frames`` under the format's content type."""
    headers = {"content-type": _TYPES.get(wire_format, "text/event-stream")}
    return Sent(frames=frames, headers=headers, hang_up=hang_up, stall=stall, drip=drip)


def comment(wire_format: str) -> bytes:
    """A frame that means nothing."""
    return next(iter(wires(wire_format).NOISE.values()))  # type: ignore[no-any-return]
