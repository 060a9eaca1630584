"""A scenario: what a model is asked, turn by turn, with which tools, and what is expected of each answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticKnownError

from toolspan_server.problems import Fault, Faulty

from ...events import Answer
from .conversed import Conversed
from .expected import Expect, Strict, Text
from .surroundings import Surroundings
from .verdicts import judge

if TYPE_CHECKING:
    from ...messages import ToolSpec
    from ...toolbox import Toolbox
    from .setting import Setting

__all__ = ["MAX_TURNS", "MAX_WEIGHT", "Scenario", "Turn"]

MAX_TURNS = 64
MAX_WEIGHT = 1_000_000


class Turn(Strict):
    """One question of a conversation and what is expected of its answer."""

    query: Text = Field(description="What the user says.", examples=["And tomorrow?"])
    expect: Expect = Field(description="What the model should do then.")


class Scenario(Surroundings):
    """One question, or a conversation of several turns, and what is expected of each answer."""

    name: str = Field(
        default="",
        description="What it is called in reports, and the id of its recorded answers. Default: the query.",
        examples=["opens a ticket"],
    )
    turns: Annotated[tuple[Turn, ...], Field(min_length=1, max_length=MAX_TURNS)] = Field(
        default=(),
        description="A conversation, in place of query and expect: each turn is asked after the answer to "
        "the one before, with all messages, calls and results so far. The scenario succeeds when every turn "
        "does; after a turn that does not, no further one is asked.",
        examples=[
            [
                {"query": "Weather in Oslo?", "expect": {"calls": [{"tool": "get_weather"}]}},
                {"query": "Thanks!", "expect": {"no_calls": True}},
            ]
        ],
    )
    query: Text | None = Field(
        default=None,
        validate_default=True,
        description="What the user says.",
        examples=["Printer 3 is on fire, open a ticket"],
    )
    expect: Expect | None = Field(
        default=None, validate_default=True, description="What the model should do with the query."
    )
    weight: float = Field(
        default=1.0,
        gt=0,
        le=MAX_WEIGHT,
        description="How much it counts in weighted rates. Badges and intervals count every trial once.",
        examples=[2],
    )
    tags: tuple[Text, ...] = Field(
        default=(),
        description="What it is counted with; recorded answers are counted by the first.",
        examples=[["tickets"]],
    )

    @field_validator("query", "expect")
    @classmethod
    def _is_asked_one_way(cls, value: Any, info: ValidationInfo) -> Any:
        turns = info.data.get("turns")
        if value is None and turns == ():
            raise PydanticKnownError("missing")
        if value is not None and turns:
            hint = "make it the first of the turns, or leave out turns"
            raise Faulty(Fault((), f"{info.field_name!r} stands beside 'turns'", hint, on_key=True))
        return value

    @cached_property
    def asked(self) -> tuple[Turn, ...]:
        """The turns, in their order: at least one."""
        if self.query is None or self.expect is None:
            return self.turns
        return (Turn(query=self.query, expect=self.expect),)

    @property
    def title(self) -> str:
        """The name, or the first query where there is none."""
        return self.name or self.asked[0].query

    @property
    def identity(self) -> Any:
        """What else the scenario is made of, as JSON; part of the suite's hash where there is any."""
        return None

    @property
    def uses_toolbox(self) -> bool:
        """Whether the tools of the servers are offered."""
        return self.own_tools is None

    @property
    def own_tools(self) -> tuple[ToolSpec, ...] | None:
        """The tools that are offered in place of those of the servers; ``None`` where these are."""
        return None

    def set_in(self, usual: Setting) -> Setting:
        """What its turns are asked with; ``usual`` is what they are without keys of its own."""
        from .staging import staged

        return staged(self, usual)

    @asynccontextmanager
    async def opened(self, usual: Setting) -> AsyncGenerator[Setting]:
        """What one conversation is asked with: that of ``set_in``, as long as the block lasts."""
        yield self.set_in(usual)

    def in_turn(self, number: int, setting: Setting) -> Toolbox:
        """The tools of the turn ``number`` (from 0) of a conversation in ``setting``."""
        del number
        return setting.toolbox

    def turn_faults(self, number: int, answer: Answer) -> tuple[str, ...]:
        """What is not as expected in the ``answer`` to the turn ``number`` (from 0), each in words."""
        return judge(self.asked[number].expect, answer).reasons

    def faults_of(self, conversed: Conversed) -> tuple[str, ...]:
        """What is not as expected, each in words; of several turns, with the number of the turn (from 1)."""
        turns = len(self.asked)
        return tuple(
            f"turn {number + 1} of {turns}: {fault}" if turns > 1 else fault
            for number, answer in enumerate(conversed.answers)
            for fault in self.turn_faults(number, answer)
        )

    async def verdict(self, conversed: Conversed) -> tuple[str, ...]:
        """As ``faults_of``, without holding up anything else."""
        return self.faults_of(conversed)

    def as_details(self) -> dict[str, Any]:
        """What of it is kept with each trial, and what figures by tool and tag are made of: ``{"scenario",
        "query", "expected": {"calls" | "no_calls"}, "tags", "queries", "weight"}``; ``queries`` are those of
        all turns, where there are several, and ``weight`` is there where it is not 1."""
        calls = [call.tool for turn in self.asked for call in turn.expect.calls]
        nothing = all(turn.expect.no_calls for turn in self.asked)
        optional = {
            "expected": ({"calls": calls} if calls else {}) | ({"no_calls": True} if nothing else {}),
            "tags": list(self.tags),
            "queries": [turn.query for turn in self.asked] if self.turns else [],
            "weight": self.weight if self.weight != 1 else None,
        }
        details: dict[str, Any] = {"scenario": self.title, "query": self.asked[0].query}
        return details | {name: value for name, value in optional.items() if value}
