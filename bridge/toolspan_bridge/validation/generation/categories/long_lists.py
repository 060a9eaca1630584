"""The right tool in a long list."""

from __future__ import annotations

from collections.abc import Iterator

from ..actions import action_of
from ..choices import Choices
from ..distractors import distractors
from ..drafts import Draft
from ..problems import LeftOut, NotGenerated
from ..requests import request_of, values_said
from ..results import result_of
from ..sentences import query_of
from ..subjects import Subject

CATEGORY = "long_lists"
_OTHERS = (10, 50, 100)


def long_lists(tools: tuple[Subject, ...], choices: Choices) -> Iterator[Draft | LeftOut]:
    """A query for a tool among 10, 50 and 100 others, which are made up; each time another tool, if there are
    several."""
    order = choices.shuffled(tools)
    for number in _OTHERS:
        for tool in order:
            if draft := _draft(tool, number, tools, choices.of(tool.name, number)):
                yield draft
                order = [*(each for each in order if each is not tool), tool]
                break


def _draft(tool: Subject, number: int, tools: tuple[Subject, ...], choices: Choices) -> Draft | None:
    """``None`` for a tool that cannot be asked for, which is told where the tool itself is asked for."""
    try:
        request = request_of(tool, choices)
        query = query_of(action_of(tool, tools), request, choices)
    except NotGenerated:
        return None
    return Draft(
        name=f"long list: {tool.name} among {number} others",
        category=CATEGORY,
        query=query,
        expect={"calls": [request.expected]},
        said=values_said(request.arguments),
        offered=[tool.name],
        defined=distractors(number, tools, choices),
        results={tool.name: [result_of(request, choices)]},
    )
