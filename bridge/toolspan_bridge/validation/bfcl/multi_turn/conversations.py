"""One conversation of the leaderboard, and the verdict of its own checker on the calls of each turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ..function_call import MadeCall
from .plain_calls import is_plain_call
from .programs import Installed, Programs, ProgramsFault

__all__ = ["ConversationCase", "Step", "TurnSteps"]

Step = Sequence[MadeCall]
"""The calls of one reply of the model, all with an object of arguments."""

TurnSteps = Sequence[Step]


@dataclass(frozen=True, slots=True)
class ConversationCase:
    """A line of a ``multi_turn_*`` file, with what the programs of ``version`` know of it.

    ``queries`` is what the user says in each turn; ``functions`` are those of its ``classes``, and ``added``
    names those that are only offered from a turn on (from 0). ``accepted`` are the accepted calls of each
    turn, as text of Python; ``setup`` is the state of the classes at the beginning. A model that makes calls
    in more than ``steps`` replies of a turn fails.
    """

    id: str
    category: str
    queries: tuple[str, ...]
    classes: tuple[str, ...]
    setup: Mapping[str, Any]
    functions: tuple[Mapping[str, Any], ...]
    added: Mapping[str, tuple[str, ...]]
    accepted: tuple[tuple[str, ...], ...]
    steps: int
    version: str

    @classmethod
    def of_data(cls, parts: Mapping[str, Any]) -> Self:
        """The case that ``asdict`` gave ``parts`` of, also after they were JSON. Raises ``ValueError``,
        ``KeyError`` and ``TypeError`` where they are none."""
        named: dict[str, Any] = {
            **parts,
            **{name: tuple(parts[name]) for name in ("queries", "classes", "functions")},
            "added": {turn: tuple(names) for turn, names in parts["added"].items()},
            "accepted": tuple(tuple(turn) for turn in parts["accepted"]),
        }
        case = cls(**named)
        names = frozenset(str(function["name"]) for function in case.functions)
        if not all(is_plain_call(call, names) for turn in case.accepted for call in turn):
            raise ValueError(f"{case.id}: an accepted call is no call of a function with plain values")
        return case

    @property
    def for_programs(self) -> dict[str, Any]:
        """It as the programs want it."""
        return {"id": self.id, "initial_config": self.setup, "involved_classes": list(self.classes)}

    def withheld(self, turn: int) -> frozenset[str]:
        """The names of the functions that are not offered in ``turn`` (from 0)."""
        return frozenset(name for at, names in self.added.items() if int(at) > turn for name in names)

    def perform(self, programs: Programs, call: MadeCall) -> str:
        """The result of ``call`` in the conversation that ``programs`` perform. Raises ``ProgramsFault``."""
        asked = {"do": "call", "case": self.for_programs, "calls": [_as_json(call)]}
        return str(programs.ask(asked)["results"][0])

    def fault_of(self, installed: Installed, turns: Sequence[TurnSteps]) -> str:
        """Why the calls of ``turns`` are not right, by the checker of the programs; empty where they are."""
        if len(turns) != len(self.accepted):
            return f"the conversation ended in turn {len(turns)} of {len(self.accepted)}"
        made = [[[_as_json(call) for call in step] for step in turn if step] for turn in turns]
        asked = {"do": "judge", "case": self.for_programs, "turns": made, "truth": self.accepted}
        try:
            return _worded(installed.judge.ask(asked), len(turns))
        except ProgramsFault as fault:
            return f"BFCL's checker ends with an error: {fault}"


def _as_json(call: MadeCall) -> list[Any]:
    return [call.name, dict(call.arguments)]


_WORDS = {
    "empty_turn_model_response": "no function was called",
    "instance_state_mismatch": "the calls left another state than the accepted ones",
    "execution_response_mismatch": "what the accepted calls give was not seen",
}


def _worded(verdict: Mapping[str, Any], turns: int) -> str:
    if verdict["valid"]:
        return ""
    what = _WORDS.get(verdict["kind"], verdict["message"])
    where = f"turn {verdict['turn']} of {turns}: " if verdict["turn"] else ""
    shown = "; ".join(verdict["shown"])
    return f"{where}{what} ({shown})" if shown else f"{where}{what}"
