"""A tool that fails at first: the model must try again."""

from __future__ import annotations

from collections.abc import Iterator

from ..actions import action_of
from ..choices import Choices
from ..drafts import Draft
from ..problems import LeftOut, NotGenerated
from ..requests import request_of, values_said
from ..results import result_of
from ..sentences import query_of
from ..subjects import Subject

CATEGORY = "error_recovery"
_MOST = 5
_FAILURES = (
    "Timeout: the service did not answer in time. Try again.",
    "The service is busy at the moment. Try the same call again.",
    "Temporary error 503. Please repeat the request.",
)


def error_recovery(tools: tuple[Subject, ...], choices: Choices) -> Iterator[Draft | LeftOut]:
    """Of up to five tools, a query whose first call fails with an error that says to try again."""
    found = 0
    for tool in choices.shuffled(tools):
        mine = choices.of(tool.name)
        try:
            request = request_of(tool, mine)
            query = query_of(action_of(tool, tools), request, mine)
        except NotGenerated:
            continue  # told where the tool itself is asked for
        yield Draft(
            name=f"error recovery: {tool.name}",
            category=CATEGORY,
            query=query,
            expect={"calls": [request.expected]},
            said=values_said(request.arguments),
            results={tool.name: [RuntimeError(mine.one(_FAILURES, "failure")), result_of(request, mine)]},
        )
        found += 1
        if found == _MOST:
            return
