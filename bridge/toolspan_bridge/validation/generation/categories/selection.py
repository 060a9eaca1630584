"""The right one of tools that are alike."""

from __future__ import annotations

from collections.abc import Iterator

from ..actions import action_of, near
from ..choices import Choices
from ..drafts import Draft
from ..problems import LeftOut, NotGenerated
from ..requests import request_of, values_said
from ..results import result_of
from ..sentences import query_of
from ..subjects import Subject

CATEGORY = "selection"
_MOST_NEAR = 8


def selection(tools: tuple[Subject, ...], choices: Choices) -> Iterator[Draft | LeftOut]:
    """A query for each tool, with the tools that are most like it beside."""
    for tool in tools:
        mine = choices.of(tool.name)
        try:
            request = request_of(tool, mine, extra=True)
            query = query_of(action_of(tool, tools), request, mine)
        except NotGenerated as why:
            yield LeftOut(CATEGORY, tool.name, str(why))
            continue
        beside = near(tool, tools, _MOST_NEAR)
        yield Draft(
            name=f"selection: {tool.name}",
            category=CATEGORY,
            query=query,
            expect={"calls": [request.expected]},
            said=values_said(request.arguments),
            offered=sorted((tool.name, *(each.name for each in beside))),
            results={tool.name: [result_of(request, mine)]},
        )
