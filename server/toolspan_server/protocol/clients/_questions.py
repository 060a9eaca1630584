"""Questions to a client as MCP writes them, and answers held to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ...calls.client import Ability, Question
from ...engines.parameters import Check, ValueNames
from ...errors import ToolFailure

METHODS: Mapping[Ability, str] = {
    "elicitation": "elicitation/create",
    "sampling": "sampling/createMessage",
    "roots": "roots/list",
}
_VALUE_NAMES = ValueNames(whole="the content", member="field")
_ACTIONS = ("accept", "decline", "cancel")


def rendered(questions: Mapping[str, Question]) -> dict[str, Any]:
    """``InputRequests``: each question as the request that it is (MCP 2026-07-28, basic/patterns/mrtr)."""
    return {
        key: {"method": METHODS[question.ability], "params": dict(question.params)}
        for key, question in questions.items()
    }


def lacking(capabilities: Mapping[str, Any], question: Question) -> dict[str, Any] | None:
    """The ``ClientCapabilities`` that ``question`` needs and ``capabilities`` do not have; else ``None``.

    ``elicitation: {}`` is the form mode alone (MCP 2025-11-25, client/elicitation).
    """
    had: Any = capabilities.get(question.ability)
    if not isinstance(had, Mapping):
        return {question.ability: _needed(question)}
    modes = cast("Mapping[str, Any]", had)
    lacked: dict[str, Any] = {
        name: {}
        for name in _needed(question)
        if modes.get(name) is None and not (name == "form" and modes.get("url") is None)
    }
    return {question.ability: lacked} if lacked else None


def _needed(question: Question) -> dict[str, Any]:
    if question.ability == "elicitation":
        return {"url": {}} if question.params.get("mode") == "url" else {"form": {}}
    if question.ability == "sampling" and ("tools" in question.params or "toolChoice" in question.params):
        return {"tools": {}}
    return {}


def fault_in(question: Question, answer: Any) -> str | None:
    """What is wrong with ``answer`` as an answer to ``question``; ``None`` when it is one.

    Raises ``ToolFailure`` when the question's own ``requestedSchema`` is no JSON Schema.
    """
    if not isinstance(answer, Mapping):
        return "an object is needed"
    given = cast("Mapping[str, Any]", answer)
    if question.ability == "elicitation":
        return _elicitation_fault(question, given)
    if question.ability == "sampling":
        return _message_fault(given)
    return None if _are_roots(given.get("roots")) else "'roots' must be a list of objects with a 'uri'"


def _message_fault(given: Mapping[str, Any]) -> str | None:
    for key in ("role", "model"):
        if not isinstance(given.get(key), str):
            return f"'{key}' must be a string"
    content: Any = given.get("content")
    return None if isinstance(content, Mapping | list) else "'content' must be an object or a list"


def _elicitation_fault(question: Question, given: Mapping[str, Any]) -> str | None:
    if given.get("action") not in _ACTIONS:
        return "'action' must be accept, decline or cancel"
    if given["action"] != "accept" or question.params.get("mode") == "url":
        return None
    content: Any = given.get("content", {})
    if not isinstance(content, Mapping):
        return "'content' must be an object"
    schema: Mapping[str, Any] = question.params.get("requestedSchema") or {}
    return _content_fault(schema, dict(cast("Mapping[str, Any]", content)))


def _content_fault(schema: Mapping[str, Any], content: dict[str, Any]) -> str | None:
    from jsonschema_rs import ReferencingError

    try:
        faults = Check(schema, _VALUE_NAMES).faults(content)
    except (ValueError, ReferencingError):
        raise ToolFailure("The tool asks the client by a schema that is wrong") from None
    return f"'content' does not fit the schema that was asked by: {faults[0]}" if faults else None


def _are_roots(roots: Any) -> bool:
    return isinstance(roots, list) and all(
        isinstance(root, Mapping) and isinstance(cast("Mapping[str, Any]", root).get("uri"), str)
        for root in roots  # pyright: ignore[reportUnknownVariableType]  # any JSON
    )
