"""Claude on Amazon Bedrock by InvokeModel: Anthropic's own Messages API, where Converse expresses less."""

from __future__ import annotations

from ..http.settings import HttpSettings
from ..wire.provider import WireProvider
from ..wire.unbound_thoughts import UnboundThoughts
from .bedrock import INVOKE, BedrockProvider, connect_by


def connect(model: str, settings: HttpSettings) -> WireProvider:
    """As ``bedrock``, by another of its operations. Raises the same."""
    return connect_by(INVOKE, settings, _BedrockClaude)


class _BedrockClaude(UnboundThoughts, BedrockProvider):
    """Bedrock's provider, with what is particular to Claude."""
