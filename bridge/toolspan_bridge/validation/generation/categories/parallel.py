"""Two calls that do not depend on each other, in one turn."""

from __future__ import annotations

from collections.abc import Iterator

from ..actions import action_of
from ..choices import Choices
from ..drafts import Draft
from ..english import listed, sentence
from ..problems import LeftOut, NotGenerated
from ..requests import Request, request_of, values_said
from ..results import result_of
from ..sentences import clause_of, named
from ..subjects import Subject

CATEGORY = "parallel"
_MOST, _MOST_TOOLS = 5, 30
"""How many scenarios there are of each sort, and of how many tools."""

Asked = tuple[str, Request]


def parallel(tools: tuple[Subject, ...], choices: Choices) -> Iterator[Draft | LeftOut]:
    """One tool with two sets of values, and two tools, both in one query."""
    asked = dict(_asked(tools, choices))
    twice = 0
    for name, (action, first) in asked.items():
        try:
            other = request_of(first.tool, choices.of(name, "again"), but=[first])
        except NotGenerated:
            continue
        if (
            twice < _MOST
            and other.said
            and not set(values_said(other.arguments)) & set(values_said(first.arguments))
        ):
            twice += 1
            yield _draft(f"parallel: {name} twice", (action, first), (action, other), choices)
    several = list(asked.values())
    for first_of, second_of in list(zip(several[::2], several[1::2], strict=False))[:_MOST]:
        names = f"{first_of[1].tool.name} and {second_of[1].tool.name}"
        yield _draft(f"parallel: {names}", first_of, second_of, choices)


def _asked(tools: tuple[Subject, ...], choices: Choices) -> Iterator[tuple[str, Asked]]:
    """The tools that can be asked for, in the order of chance."""
    for tool in choices.shuffled(tools)[:_MOST_TOOLS]:
        try:
            yield tool.name, (action_of(tool, tools), request_of(tool, choices.of(tool.name)))
        except NotGenerated:
            continue  # told where the tool itself is asked for


def _draft(name: str, first: Asked, second: Asked, choices: Choices) -> Draft:
    results: dict[str, list[object]] = {}
    for _, request in (first, second):
        results.setdefault(request.tool.name, []).append(result_of(request, choices.of(name)))
    return Draft(
        name=name,
        category=CATEGORY,
        query=both(first, second),
        expect={"calls": [first[1].expected, second[1].expected], "order": "parallel"},
        said=values_said([first[1].arguments, second[1].arguments]),
        results=results,
    )


def both(first: Asked, second: Asked) -> str:
    """A query for two requests, each with the words of its action."""
    (clause, rest), (other, more) = clause_of(*first), clause_of(*second)
    if first[1].tool is second[1].tool:
        again = f"Do the same with {listed([named(each) for each in second[1].said])}."
        return " ".join(part for part in (sentence(f"{clause}."), rest, again) if part)
    if not rest and not more:
        return sentence(f"{clause}, and also {other}.")
    return " ".join(
        part for part in ("I need two things.", sentence(f"{clause}."), rest, f"Also, {other}.", more) if part
    )
