"""What a person would answer in a scenario: to a call that needs approval, and to a question of a tool."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from toolspan_server.problems import Fault, Faulty

from ...providers.wire.json_types import is_object
from .expected import Strict, Text

__all__ = ["ApprovalAnswer", "Approve", "Elicit", "ElicitationAnswers"]

_APPROVAL = ("allow", "deny")
_ACTIONS = ("accept", "decline", "cancel")


class Approve(Strict):
    """What the person says to a call: a no, perhaps with a reason, or a yes, perhaps with other arguments."""

    answer: Literal["allow", "deny"] = Field(description="What the person says.")
    reason: Text | None = Field(
        default=None, description="Why not, which the model is told.", examples=["not on a Friday"]
    )
    arguments: dict[str, Any] | None = Field(
        default=None, description="The arguments that the person allows in place of the model's."
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.reason is not None and self.answer == "allow":
            raise Faulty(Fault(("reason",), "a call that is allowed needs no reason", "leave it out"))
        if self.arguments is not None and self.answer == "deny":
            raise Faulty(Fault(("arguments",), "a call that is denied has no arguments", "leave them out"))
        return self


class Elicit(Strict):
    """What the person answers to a question of a tool: ``content`` is what the form is filled in with."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


def _approve(value: Any) -> Any:
    if isinstance(value, str):
        if value not in _APPROVAL:
            raise Faulty(Fault((), f"must be 'allow' or 'deny', not {value!r}"))
        return {"answer": value}
    if isinstance(value, Approve) or is_object(value):
        return value
    raise Faulty(Fault((), "must be allow, deny, or {answer: …, reason: …, arguments: …}"))


def _elicit(value: Any) -> Any:
    if isinstance(value, Elicit):
        return value
    if isinstance(value, str) and value in _ACTIONS:
        return {"action": value, "content": {} if value == "accept" else None}
    if is_object(value) and list(value) == ["accept"]:
        if not is_object(value["accept"]):
            raise Faulty(Fault(("accept",), "must be an object: the fields of the form and their values"))
        return {"action": "accept", "content": value["accept"]}
    raise Faulty(Fault((), "must be accept, decline, cancel, or {accept: {FIELD: value, …}}"))


_ELICIT_SCHEMA = {
    "anyOf": [
        {"enum": list(_ACTIONS)},
        {
            "type": "object",
            "properties": {"accept": {"type": "object", "description": "The fields of the form."}},
            "required": ["accept"],
            "additionalProperties": False,
        },
    ]
}
ApprovalAnswer = Annotated[
    Approve, BeforeValidator(_approve, json_schema_input_type=Literal["allow", "deny"] | Approve)
]
"""``allow``, ``deny``, or ``{answer, reason, arguments}``."""
ElicitationAnswers = Annotated[Elicit, BeforeValidator(_elicit), WithJsonSchema(_ELICIT_SCHEMA)]
"""``accept``, ``decline``, ``cancel``, or ``{accept: {FIELD: value}}``."""
