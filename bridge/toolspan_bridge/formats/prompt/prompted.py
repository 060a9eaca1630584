"""The prompt format over any other one, which carries the conversation as plain text and no tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...messages import Reply, Request, ToolSpec
from ..names import NameTable
from ..shared.contract import (
    Format,
    Loss,
    StreamParser,
    WireError,
)
from ..shared.openai_models import reasons
from .parse import RESULTS, with_calls
from .render import (
    losses,
    plain_request,
    render_tools,
    restore,
)
from .stream import PromptStream
from .wordings import DEFAULT, WORDINGS

_STOPS = {
    "anthropic": ("stop_sequences",),
    "bedrock": ("inferenceConfig", "stopSequences"),
    "bedrock-anthropic": ("stop_sequences",),
    "gemini": ("generationConfig", "stopSequences"),
    "ollama": ("options", "stop"),
    "openai": ("stop",),
}
"""Where each format has its stop sequences."""

__all__ = ["Prompted"]


class Prompted:
    """The ``prompt`` format over ``base``, the format ``name``: ``wording`` is one of ``WORDINGS``."""

    def __init__(self, base: Format, name: str, wording: str = DEFAULT) -> None:
        self._base = base
        self._name = name
        self._wording = WORDINGS[wording]
        self.BUILTINS: Mapping[str, Any] = getattr(base, "BUILTINS", {})

    def render_tools(self, tools: Sequence[ToolSpec], names: NameTable) -> str:
        """The part of the system prompt that describes ``tools``; empty when there are none."""
        return render_tools(tools, names, self._wording)

    def takes_answer_schema(self, request: Request) -> bool:
        """Never beside tools: the answer that may be a call would have to fit the schema too."""
        takes = getattr(self._base, "takes_answer_schema", None)
        return not request.tools and takes is not None and bool(takes(request))

    def render_request(self, request: Request, names: NameTable) -> dict[str, Any]:
        """The body of the base format, in plain text: no tools, no calls, no results. With tools, the model
        is stopped where it begins to write results itself, where the format has a setting for that."""
        plain = plain_request(request, names, self._wording, self._name)
        body = self._base.render_request(plain, NameTable.of(()))
        if request.tools and request.tool_choice != "none":
            self._stop_at_results(body, request.model)
        return body

    def _stop_at_results(self, body: dict[str, Any], model: str) -> None:
        if self._name not in _STOPS or (self._name == "openai" and reasons(model)):
            return
        *outer, name = _STOPS[self._name]
        for each in outer:
            body = body.setdefault(each, {})
        body[name] = list(RESULTS)

    def parse_reply(self, body: Any) -> Reply:
        """The base format's reply, the calls taken out of its text. Raises ``FormatError``."""
        return with_calls(self._base.parse_reply(body))

    def parse_stream(self) -> StreamParser:
        """The base format's stream; what may become a call is held back until it is none."""
        return PromptStream(self._base.parse_stream())

    def parse_error(self, status: int, headers: Mapping[str, str], body: bytes) -> WireError:
        """As the base format reads it."""
        return self._base.parse_error(status, headers, body)

    def losses(self, tools: Sequence[ToolSpec]) -> list[Loss]:
        """What a description in words cannot say of ``tools``."""
        return losses(tools)

    def restore(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Unwrapped, and whole floats as integers."""
        return restore(tool, arguments)
