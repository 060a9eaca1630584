"""What servers ask during calls, and what they are answered, as events of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..messages import Usage
from .elicitation import Elicitation, Elicited


@dataclass(frozen=True, slots=True)
class ElicitationRequest:
    """A server asks the person during a call. An ``ElicitationAnswer`` of the same ``number`` follows."""

    call_id: str
    tool: str
    question: Elicitation
    number: int
    iteration: int

    def as_dict(self) -> dict[str, Any]:
        """``{"type": "elicitation_request", "tool_use_id", "tool_name", "server", "number", "mode",
        "message"}``, and ``"requested_schema"`` of a form or ``"url"`` of a page."""
        question = self.question
        data: dict[str, Any] = {
            "type": "elicitation_request",
            "tool_use_id": self.call_id,
            "tool_name": self.tool,
            "server": question.server,
            "number": self.number,
            "mode": question.mode,
            "message": question.message,
        }
        return data | ({"url": question.url} if question.url else {"requested_schema": dict(question.schema)})


@dataclass(frozen=True, slots=True)
class ElicitationAnswer:
    """The person's answer to the ``ElicitationRequest`` of that ``number``."""

    call_id: str
    tool: str
    answer: Elicited
    number: int
    iteration: int

    def as_dict(self) -> dict[str, Any]:
        """``{"type": "elicitation_answer", "tool_use_id", "tool_name", "number", "action"}``, and
        ``"content"`` of a form that was accepted."""
        ids = {"type": "elicitation_answer", "tool_use_id": self.call_id, "tool_name": self.tool}
        return {**ids, "number": self.number, **self.answer.as_dict()}


@dataclass(frozen=True, slots=True)
class SamplingRequest:
    """A server wants a model to be asked during a call. A ``SamplingAnswer`` of the same ``number`` follows.
    ``params`` are those of its ``sampling/createMessage``."""

    call_id: str
    server: str
    tool: str
    params: Any
    number: int
    iteration: int

    def as_dict(self) -> dict[str, Any]:
        """``{"type": "sampling_request", "tool_use_id", "tool_name", "server", "number", "params"}``."""
        ids = {"type": "sampling_request", "tool_use_id": self.call_id, "tool_name": self.tool}
        return {**ids, "server": self.server, "number": self.number, "params": self.params}


@dataclass(frozen=True, slots=True)
class SamplingAnswer:
    """What came of the ``SamplingRequest`` of that ``number``: the ``result`` of ``model`` at ``provider``,
    and its tokens; or why it was ``refused``."""

    call_id: str
    server: str
    tool: str
    number: int
    iteration: int
    result: Any = None
    model: str = ""
    provider: str = ""
    usage: Usage = field(default_factory=Usage)
    refused: str = ""

    def as_dict(self) -> dict[str, Any]:
        """``{"type": "sampling_answer", "tool_use_id", "tool_name", "server", "number"}``, and ``"result"``,
        ``"model"``, ``"provider"`` and ``"usage"``, or ``"refused"``."""
        data: dict[str, Any] = {
            "type": "sampling_answer",
            "tool_use_id": self.call_id,
            "tool_name": self.tool,
            "server": self.server,
            "number": self.number,
        }
        if self.refused:
            return data | {"refused": self.refused}
        known = {"model": self.model, "provider": self.provider, "usage": self.usage.as_dict()}
        return data | {"result": self.result} | known
