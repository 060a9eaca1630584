"""A scenario: what a model is asked, turn by turn, and what is expected of each answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...events import Answer
from .conversed import Conversed
from .expected import Expect, Strict, Text
from .verdicts import judge

if TYPE_CHECKING:
    from .setting import Setting

__all__ = ["Scenario", "Turn"]


class Turn(Strict):
    """One question of a conversation and what is expected of its answer."""

    query: Text
    expect: Expect


class Scenario(Strict):
    """One question, or a conversation of several turns, and what is expected of each answer."""

    name: str = ""
    query: Text
    expect: Expect
    tags: tuple[Text, ...] = ()

    @property
    def asked(self) -> tuple[Turn, ...]:
        """The turns, in their order: at least one."""
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
        return True

    def set_in(self, usual: Setting) -> Setting:
        """What its turns are asked with; ``usual`` is what they are without keys of its own."""
        return usual

    def turn_faults(self, number: int, answer: Answer) -> tuple[str, ...]:
        """What is not as expected in the ``answer`` to the turn ``number`` (from 0), each in words."""
        return judge(self.asked[number].expect, answer).reasons

    def faults_of(self, conversed: Conversed) -> tuple[str, ...]:
        """What is not as expected, each in words; of several turns, with the number of the turn (from 1)."""
        turns = len(self.asked)
        faults = [
            (n, fault) for n, each in enumerate(conversed.answers) for fault in self.turn_faults(n, each)
        ]
        return tuple(f"turn {n + 1} of {turns}: {fault}" if turns > 1 else fault for n, fault in faults)

    def as_details(self) -> dict[str, Any]:
        """What of it is kept with each trial, and what figures by tool and tag are made of: ``{"scenario",
        "query", "expected": {"calls" | "no_calls"}, "tags"}``."""
        details: dict[str, Any] = {"scenario": self.title, "query": self.asked[0].query}
        calls = [call.tool for turn in self.asked for call in turn.expect.calls]
        nothing = all(turn.expect.no_calls for turn in self.asked)
        expected = ({"calls": calls} if calls else {}) | ({"no_calls": True} if nothing else {})
        return (
            details
            | ({"expected": expected} if expected else {})
            | ({"tags": list(self.tags)} if self.tags else {})
        )
