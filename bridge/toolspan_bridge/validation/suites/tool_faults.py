"""What a scenario cannot mean with the tools that there are, each fault with its place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from toolspan_server.common.did_you_mean import nearest
from toolspan_server.problems import Fault, Path

from ...approvals.patterns import names_tool
from ...messages import ToolSpec
from ...toolbox.local import LOCAL_SERVER
from .expected import Expect
from .mocks import is_described

if TYPE_CHECKING:
    from .scenario import Scenario

__all__ = ["tool_faults"]

_Key = tuple[str, str]


def tool_faults(scenario: Scenario, tools: Sequence[ToolSpec]) -> Iterator[Fault]:
    """Each place of ``scenario`` that names a tool which is not offered in it; ``tools`` are the servers'."""
    own = [name for name, data in scenario.mocks.items() if is_described(data)]
    chosen = scenario.tools
    kept = tools if chosen == "all" else [t for t in tools if names_tool(chosen, t.server, t.name)]
    offered = [(tool.server, tool.name) for tool in kept] + [(LOCAL_SERVER, name) for name in own]
    known = _Known({tool.name for tool in tools} | set(own), {name for _, name in offered})
    if chosen != "all":
        there = [(tool.server, tool.name) for tool in tools]
        idle = ((("tools", at), glob) for at, glob in enumerate(chosen) if not _is_of(glob, there))
        yield from (known.fault(path, glob) for path, glob in idle)
    yield from _mock_faults(scenario, tools, kept, known)
    yield from (known.fault(("approvals", g), g) for g in scenario.approvals if not _is_of(g, offered))
    yield from _elicitation_faults(scenario, offered, known)
    for path, expect in _expects(scenario):
        yield from _expect_faults(path, expect, known)


class _Known:
    """The names of all tools that there are, and of those that are offered."""

    def __init__(self, there: Collection[str], offered: Collection[str]) -> None:
        self.there, self.offered = there, offered

    def fault(self, path: Path, tool: str) -> Fault:
        """Why ``tool``, which is named at ``path``, cannot be meant."""
        if tool in self.there:
            message = f"the scenario's tools leave out {tool!r}, so nothing was run or recorded"
            return Fault(path, message, "add it to tools, or leave it out here")
        message = f"no server offers the tool {tool!r}, so nothing was run or recorded"
        return Fault(path, message, nearest(tool, sorted(self.offered)))


def _is_of(glob: str, tools: Sequence[_Key]) -> bool:
    return any(names_tool((glob,), *tool) for tool in tools)


def _elicitation_faults(scenario: Scenario, offered: Sequence[_Key], known: _Known) -> Iterator[Fault]:
    asking = [
        tool for tool in offered if tool[1] not in scenario.mocks and "/".join(tool) not in scenario.mocks
    ]
    for glob in scenario.elicitations:
        path = ("elicitations", glob)
        if not _is_of(glob, offered):
            yield known.fault(path, glob)
        elif not _is_of(glob, asking):
            yield Fault(path, f"{glob!r} is mocked, and a mock here asks nothing", "leave it out")


def _mock_faults(
    scenario: Scenario, tools: Sequence[ToolSpec], kept: Sequence[ToolSpec], known: _Known
) -> Iterator[Fault]:
    for name, data in scenario.mocks.items():
        path = ("mocks", name)
        is_there, is_kept = (any(name in _names(tool) for tool in each) for each in (tools, kept))
        if is_described(data) and is_there:
            hint = "leave out description and parameters: those of the server stay"
            yield Fault(path, f"a server offers the tool {name!r}", hint)
        elif not is_described(data) and not is_there:
            hint = (
                f"{nearest(name, sorted(known.offered))}; a tool of its own needs description and parameters"
            )
            yield Fault(path, f"no server offers the tool {name!r}, so nothing was run or recorded", hint)
        elif not is_described(data) and not is_kept:
            yield known.fault(path, name)


def _names(tool: ToolSpec) -> tuple[str, str]:
    return tool.name, f"{tool.server}/{tool.name}"


def _expects(scenario: Scenario) -> Iterator[tuple[Path, Expect]]:
    for number, turn in enumerate(scenario.asked):
        yield ("turns", number, "expect") if scenario.turns else ("expect",), turn.expect


def _expect_faults(above: Path, expect: Expect, known: _Known) -> Iterator[Fault]:
    named: list[tuple[Path, str]] = [
        ((*above, "calls", at, "tool"), call.tool) for at, call in enumerate(expect.calls)
    ]
    named += [((*above, "never", at), tool) for at, tool in enumerate(expect.never)]
    return (known.fault(path, tool) for path, tool in named if tool not in known.offered)
