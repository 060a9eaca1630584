"""Suites: what a model is asked, and what it should do. Written in YAML or JSON.

    name: tickets                        # default: the file's name
    scenarios:
      - name: opens a ticket             # default: the query
        query: Printer 3 is on fire, open an urgent ticket
        expect:                          # at least one of:
          calls:                         # each of these, in any order; more calls do no harm
            - tool: create_ticket        # by its own name
              arguments:                 # those that matter
                priority: {one_of: [high, urgent]}
                title: {contains: printer}
                room: 3
          order: ordered                 # or parallel, in one turn; default: any
          never: [delete_ticket]         # none of these
          answer: ticket                 # part of the answer, in any case
          max_calls: 3
          max_iterations: 2              # turns in which the model could call tools
        tags: [tickets]                  # what it is counted with
      - query: Thank you!
        expect:
          no_calls: true                 # no tool at all

An argument fits when it is equal (numbers as numbers, strings in any case and without surrounding space,
of an object the given keys) or as a form says: ``{contains: text}``, ``{matches: RE2 pattern}``,
``{one_of: [values]}``, ``{equals: value}``, ``{text: …}`` (in any case and with any spaces), ``{range: {min,
max}}``, ``{approximate: {value, within}}``, ``{subset: list or object}``, ``{schema: JSON Schema}``,
``{absent: true}``. ``answer`` is a string, ``{contains: …}``, ``{matches: …}``, ``{number: {value,
within}}``, ``{json: {path, is}}``, or a list of alternatives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Self

from pydantic import model_validator

from toolspan_server.common.did_you_mean import nearest
from toolspan_server.problems import Fault

from .expected import Expect, Strict
from .scenario import Scenario

__all__ = ["Suite"]

_Path = tuple[str | int, ...]


class Suite(Strict):
    """Scenarios that belong together."""

    name: str = ""
    scenarios: tuple[Scenario, ...]

    @model_validator(mode="after")
    def _can_be_told_apart(self) -> Self:
        if not self.scenarios:
            raise ValueError("no scenarios (give at least one, with query and expect)")
        counts = Counter(scenario.title for scenario in self.scenarios)
        if twice := [title for title, count in counts.items() if count > 1]:
            raise ValueError(f"several scenarios are called {twice[0]!r} (give each a name of its own)")
        return self

    def missing_tools(self, offered: Iterable[str]) -> tuple[str, ...]:
        """The tools whose calls are expected, or are never to be made, but which are not among ``offered``,
        sorted; those of scenarios with tools of their own are left out."""
        there = set(offered)
        return tuple(sorted({tool for _, tool in self._named_tools() if tool not in there}))

    def unknown_tools(self, offered: Iterable[str]) -> list[Fault]:
        """A fault, with its path in the suite's file, for each place that names a tool which is not among
        ``offered``."""
        known = sorted(set(offered))
        return [_unknown_tool(path, tool, known) for path, tool in self._named_tools() if tool not in known]

    def _named_tools(self) -> list[tuple[_Path, str]]:
        found: list[tuple[_Path, str]] = []
        for number, scenario in enumerate(self.scenarios):
            if scenario.uses_toolbox:
                found += _named_in(scenario.expect, ("scenarios", number, "expect"))
        return found


def _named_in(expect: Expect, above: _Path) -> list[tuple[_Path, str]]:
    """Each place of ``expect``, which stands at ``above``, that names a tool."""
    calls = [((*above, "calls", at, "tool"), call.tool) for at, call in enumerate(expect.calls)]
    return [*calls, *(((*above, "never", at), tool) for at, tool in enumerate(expect.never))]


def _unknown_tool(path: _Path, tool: str, known: list[str]) -> Fault:
    message = f"no server offers the tool {tool!r}, so nothing was run or recorded"
    return Fault(path, message, nearest(tool, known))
