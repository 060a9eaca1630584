"""What our own server is told within a call: that it was allowed here, or that no model is to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolspan_server.engines.upstreams import InputNeeded, InputResponses

CAPABILITIES_META = "io.modelcontextprotocol/clientCapabilities"
_KEY = "approve-"
"""What the key of the server's question begins with."""


def able_to_approve(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """The ``_meta`` of a call that was allowed here: ``capabilities``, and that of answering a form."""
    known: Mapping[str, Any] = capabilities.get("elicitation") or {}
    return {CAPABILITIES_META: {**capabilities, "elicitation": {**known, "form": {}}}}


def unable_to_sample(meta: Mapping[str, Any], capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """The ``_meta`` of a call with ``meta`` for which no model is to be asked: ``capabilities`` but that."""
    known: Mapping[str, Any] = meta.get(CAPABILITIES_META, capabilities)
    return {CAPABILITIES_META: {name: value for name, value in known.items() if name != "sampling"}}


def approval_of(answer: Any) -> InputResponses | None:
    """What to answer where ``answer`` is the tool's own question, the first and only one of its round.

    Any other is about something else, as a tool that this one calls, which nobody allowed here.
    """
    if not isinstance(answer, InputNeeded) or not _asks_for_approval(answer):
        return None
    accepted: dict[str, Any] = {"action": "accept", "content": dict[str, Any]()}
    return InputResponses(dict.fromkeys(answer.requests, accepted), answer.state)


def _asks_for_approval(answer: InputNeeded) -> bool:
    return len(answer.requests) == 1 and all(
        key.startswith(_KEY) and request.get("method") == "elicitation/create"
        for key, request in answer.requests.items()
    )
