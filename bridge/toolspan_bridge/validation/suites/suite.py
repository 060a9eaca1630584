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
        tools: [find_*]                  # globs of the tools that are offered; default: all
        mocks:                           # what tools answer, in the words of a config's mocks
          find_tickets: {response: []}
        approvals: {delete_*: deny}      # what a person says to calls
        elicitations: {book: decline}    # what a person answers to questions of tools
        weight: 2                        # in weighted rates
      - name: a conversation
        messages: [{role: user, content: I sit in room 5.}]
        turns:                           # in place of query and expect
          - {query: Open a ticket, expect: {no_calls: true}}
          - {query: The chair is broken, expect: {calls: [{tool: create_ticket}]}}

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
from dataclasses import replace
from typing import Self

from pydantic import Field, model_validator

from toolspan_server.problems import Fault

from ...messages import ToolSpec
from .expected import Strict
from .scenario import Scenario
from .tool_faults import tool_faults

__all__ = ["Suite"]


class Suite(Strict):
    """Scenarios that belong together."""

    name: str = Field(
        default="",
        description="What it is called in records. Default: the file's name.",
        examples=["tickets"],
    )
    scenarios: tuple[Scenario, ...] = Field(description="What is asked, and what is expected.")

    @model_validator(mode="after")
    def _can_be_told_apart(self) -> Self:
        if not self.scenarios:
            raise ValueError("no scenarios (give at least one, with query and expect)")
        counts = Counter(scenario.title for scenario in self.scenarios)
        if twice := [title for title, count in counts.items() if count > 1]:
            raise ValueError(f"several scenarios are called {twice[0]!r} (give each a name of its own)")
        return self

    def faults_with(self, offered: Iterable[ToolSpec]) -> list[Fault]:
        """A fault, with its path in the suite's file, for each place that cannot be meant where ``offered``
        are the servers' tools: a tool that is not there, or that the scenario does not offer."""
        tools = tuple(offered)
        return [
            replace(fault, path=("scenarios", number, *fault.path))
            for number, scenario in enumerate(self.scenarios)
            if scenario.uses_toolbox
            for fault in tool_faults(scenario, tools)
        ]

    @property
    def own_tools(self) -> list[tuple[ToolSpec, ...]] | None:
        """The tools that each scenario offers, where none of them offers those of the servers; else
        ``None``."""
        own = [each.own_tools for each in self.scenarios]
        return [tools for tools in own if tools is not None] if None not in own else None

    def missing_tools(self, offered: Iterable[ToolSpec]) -> tuple[str, ...]:
        """The names of the tools that are expected to be called, or never, and that are neither among
        ``offered`` nor mocks of the scenario, sorted."""
        there = {tool.name for tool in offered}
        named = {
            tool
            for scenario in self.scenarios
            if scenario.uses_toolbox
            for turn in scenario.asked
            for tool in (*(call.tool for call in turn.expect.calls), *turn.expect.never)
            if tool not in scenario.mocks
        }
        return tuple(sorted(named - there))
