"""What a person set for one conversation alone, and what each model used in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ..messages import Usage

__all__ = ["ModelUse", "Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """``system`` is the system prompt, empty for that of the question. ``tools`` are rules, ``on GLOB`` or
    ``off GLOB`` (of ``tool`` or ``server/tool``), of which the last that names a tool holds for it."""

    system: str = ""
    tools: tuple[str, ...] = ()

    def with_rule(self, glob: str, *, on: bool, told: bool = False) -> Settings:
        """The same with the rule that the tools of ``glob`` are on, or off; one that it overrides is gone.
        That they are on goes without saying where no rule is left, unless it is to be ``told``."""
        others = tuple(rule for rule in self.tools if rule.partition(" ")[2] != glob and glob != "*")
        added = () if on and not others and not told else (f"{'on' if on else 'off'} {glob}",)
        return replace(self, tools=(*others, *added))

    def allows(self, server: str, tool: str) -> bool:
        """Whether ``tool`` of ``server`` is on."""
        return self.rule_of(server, tool) != "off"

    def rule_of(self, server: str, tool: str) -> Literal["on", "off", ""]:
        """What the last rule that names ``tool`` of ``server`` says; empty where none does."""
        from ..approvals.patterns import names_tool

        for rule in reversed(self.tools):
            switch, _, glob = rule.partition(" ")
            if names_tool((glob,), server, tool):
                return "on" if switch == "on" else "off"
        return ""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """The ``requests`` to one model, their tokens, and US dollars; ``usd`` is ``None`` where it is not
    known."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    usd: float | None = 0.0

    def plus(self, usage: Usage, usd: float | None) -> ModelUse:
        """With one more request."""
        return ModelUse(
            self.requests + 1,
            self.input_tokens + usage.input_tokens,
            self.output_tokens + usage.output_tokens,
            self.cached_tokens + usage.cached_tokens,
            None if usd is None or self.usd is None else self.usd + usd,
        )
