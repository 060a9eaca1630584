"""What a model should do with a query: which calls, how many, in which order, and what it answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from ..expectations import AnswerRule, check_expected, parse_answer_rules
from .form_schemas import ANSWER_SCHEMA, ARGUMENTS_SCHEMA

__all__ = ["Expect", "ExpectedCall", "Strict", "Text"]


class Strict(BaseModel):
    """A part of a suite: frozen, without further keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=True)


def _checked_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    for name, value in arguments.items():
        try:
            check_expected(value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return arguments


Text = Annotated[str, Field(min_length=1)]


class ExpectedCall(Strict):
    """A call that the model should make: the tool's own name, and the arguments that matter."""

    tool: Text = Field(description="The tool's own name.", examples=["create_ticket"])
    arguments: Annotated[
        dict[str, Any], AfterValidator(_checked_arguments), WithJsonSchema(ARGUMENTS_SCHEMA)
    ] = Field(
        default_factory=dict[str, Any],
        description="The arguments that matter, each a value or a form such as {one_of: [high, urgent]}.",
        examples=[{"priority": {"one_of": ["high", "urgent"]}, "room": 3}],
    )


def _rules_data(rules: tuple[AnswerRule, ...]) -> list[dict[str, Any]]:
    return [rule.data for rule in rules]


class Expect(Strict):
    """What the model should do. Everything that is given must hold."""

    calls: tuple[ExpectedCall, ...] = Field(
        default=(),
        max_length=64,
        description="Calls that must be made, and succeed; further calls do no harm.",
        examples=[[{"tool": "create_ticket", "arguments": {"room": 3}}]],
    )
    no_calls: bool = Field(default=False, strict=True, description="No tool is to be called.")
    never: tuple[Text, ...] = Field(
        default=(), description="Tools that must not be called.", examples=[["delete_ticket"]]
    )
    answer: Annotated[
        tuple[AnswerRule, ...],
        BeforeValidator(parse_answer_rules),
        PlainSerializer(_rules_data, when_used="json"),
        WithJsonSchema(ANSWER_SCHEMA),
    ] = Field(
        default=(),
        description="What the answer contains, in any case, or as a form says, or one of a list of these.",
        examples=["ticket", {"number": {"value": 6.75, "within": 0.01}}],
    )
    order: Literal["any", "ordered", "parallel"] = Field(
        default="any", description="How the calls come: in any order, one after another, or in one turn."
    )
    max_calls: int | None = Field(
        default=None, ge=1, strict=True, description="The most calls that may be made.", examples=[3]
    )
    max_iterations: int | None = Field(
        default=None,
        ge=1,
        strict=True,
        description="The most turns of the model in which it could call tools.",
        examples=[2],
    )

    @model_validator(mode="after")
    def _can_be_met_and_missed(self) -> Self:
        limited = self.max_calls or self.max_iterations
        if not (self.calls or self.no_calls or self.never or self.answer or limited):
            raise ValueError(
                "nothing is expected (give at least one of calls, no_calls: true, never, answer)"
            )
        if self.no_calls and self.calls:
            raise ValueError("no_calls and calls contradict each other (leave one out)")
        if both := sorted({call.tool for call in self.calls} & set(self.never)):
            raise ValueError(f"{', '.join(both)} is both expected and never to be called (leave one out)")
        if self.order != "any" and len(self.calls) < 2:
            raise ValueError(f"order: {self.order} needs at least two calls")
        if self.max_calls is not None and self.max_calls < len(self.calls):
            raise ValueError(f"max_calls: {self.max_calls} is less than the {len(self.calls)} expected calls")
        if self.max_calls is not None and self.no_calls:
            raise ValueError("no_calls and max_calls contradict each other (leave one out)")
        return self
