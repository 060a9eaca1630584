"""Which tool, and which of its parameters, has another name in the other version of the definitions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from toolspan_server.common.did_you_mean import nearest

from ...errors import UsageError
from ..suites import Expect, ExpectedCall, Scenario, Suite

__all__ = ["Renames"]


@dataclass(frozen=True, slots=True)
class Renames:
    """The other names of ``tools``, and of ``parameters``, under the tool's first name and their own."""

    tools: Mapping[str, str] = field(default_factory=dict[str, str])
    parameters: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    @classmethod
    def parsed(cls, texts: Iterable[str], known: Collection[str]) -> Self:
        """The renames of ``texts``, ``TOOL=NAME`` or ``TOOL.PARAMETER=NAME``, where the tools that there are
        first are called ``known``. Raises ``UsageError`` that says what is wrong."""
        tools: dict[str, str] = {}
        parameters: dict[tuple[str, str], str] = {}
        for text in texts:
            first, _, other = (part.strip() for part in text.partition("="))
            tool, _, parameter = first.rpartition(".")
            if not (first and other):
                raise UsageError(f"--rename {text!r} is not TOOL=NAME or TOOL.PARAMETER=NAME")
            if first in known:
                tools[first] = other
            elif tool in known and parameter:
                parameters[tool, parameter] = other
            else:
                raise UsageError(
                    f"--rename {text}: there is no tool {first!r} ({nearest(first, sorted(known))})"
                )
        return cls(tools, parameters)

    def applied_to(self, suite: Suite) -> Suite:
        """``suite`` with the other names."""
        if not (self.tools or self.parameters):
            return suite
        return suite.model_copy(update={"scenarios": tuple(map(self._scenario, suite.scenarios))})

    def _scenario(self, scenario: Scenario) -> Scenario:
        changed: dict[str, Any] = {
            "turns": tuple(
                turn.model_copy(update={"expect": self._expect(turn.expect)}) for turn in scenario.turns
            )
        }
        if scenario.expect is not None:
            changed["expect"] = self._expect(scenario.expect)
        if scenario.tools != "all":
            changed["tools"] = tuple(map(self._name, scenario.tools))
        for key in ("mocks", "approvals", "elicitations"):
            changed[key] = {self._name(name): value for name, value in getattr(scenario, key).items()}
        return scenario.model_copy(update=changed)

    def _name(self, name: str) -> str:
        """The other name of ``tool`` or ``server/tool``; a glob of several is as it was."""
        server, slash, tool = name.rpartition("/")
        return f"{server}{slash}{self.tools.get(tool, tool)}"

    def _expect(self, expect: Expect) -> Expect:
        never = tuple(self.tools.get(tool, tool) for tool in expect.never)
        return expect.model_copy(update={"calls": tuple(map(self._call, expect.calls)), "never": never})

    def _call(self, call: ExpectedCall) -> ExpectedCall:
        arguments = {
            self.parameters.get((call.tool, name), name): value for name, value in call.arguments.items()
        }
        return call.model_copy(update={"tool": self.tools.get(call.tool, call.tool), "arguments": arguments})
