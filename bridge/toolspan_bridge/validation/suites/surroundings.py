"""What surrounds the questions of a scenario: tools, mocks, earlier messages, and what a person answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, Field, model_validator

from toolspan_server.problems import Fault, Faulty
from toolspan_server.schema.faults import shown

from .answered import ApprovalAnswer, ElicitationAnswers
from .expected import Strict, Text
from .mocks import MockData

__all__ = ["EarlierMessage", "Surroundings"]


def _globs(value: Any) -> Any:
    if value == "all":
        return value
    if not isinstance(value, list | tuple):
        raise Faulty(Fault((), f"must be 'all' or a list of globs, not {shown(value)}", "write [get_*]"))
    globs = tuple(cast("Sequence[Any]", value))
    wrong = [at for at, glob in enumerate(globs) if not isinstance(glob, str) or not glob]
    if wrong:
        raise Faulty(*(Fault((at,), f"must be a glob of tools, not {shown(globs[at])}") for at in wrong))
    return globs


class EarlierMessage(Strict):
    """A message of the conversation before the first question."""

    role: Literal["user", "assistant"] = Field(description="Who said it.")
    content: Text = Field(description="The words.", examples=["I am in Oslo this week."])


class Surroundings(Strict):
    """The keys of a scenario that say with what it is asked."""

    messages: tuple[EarlierMessage, ...] = Field(
        default=(),
        description="Messages of the conversation before the first question; the first is the user's.",
        examples=[[{"role": "user", "content": "I am in Oslo."}, {"role": "assistant", "content": "Noted."}]],
    )
    tools: Annotated[Literal["all"] | tuple[Text, ...], BeforeValidator(_globs)] = Field(
        default="all",
        description="Which of the servers' tools are offered: globs of tool or server/tool; default: all.",
        examples=[["get_*", "files/Read"]],
    )
    mocks: dict[Text, MockData] = Field(
        default={},
        description="Answers in place of tools, by tool (or server/tool), in the words of a config's mocks. "
        "A tool that no server has is described by description and parameters.",
        examples=[{"get_weather": {"response": {"city": "{{ city }}", "temperature": 18}}}],
    )
    approvals: dict[Text, ApprovalAnswer] = Field(
        default={},
        description="Tools, by globs, whose calls need the person's approval here, and what the person says.",
        examples=[{"delete_*": "deny"}],
    )
    elicitations: dict[Text, ElicitationAnswers] = Field(
        default={},
        description="What the person answers when a tool, by globs, asks within a call; without, nothing.",
        examples=[{"book_table": {"accept": {"time": "20:00"}}}],
    )

    @model_validator(mode="after")
    def _begins_with_the_user(self) -> Self:
        if self.messages and self.messages[0].role != "user":
            hint = "begin with a message of the user"
            raise Faulty(Fault(("messages", 0, "role"), "the first message is the assistant's", hint))
        return self
