"""One tool's result is what another one needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ....providers.wire.json_types import is_object
from ..actions import action_of
from ..choices import Choices
from ..drafts import Draft
from ..english import sentence, words_of
from ..problems import LeftOut, NotGenerated
from ..requests import Request, request_of, values_said
from ..results import made_result, result_of
from ..schemas import properties_of, simple
from ..sentences import clause_of
from ..subjects import Subject

CATEGORY = "sequential"
_MOST = 8
_GIVE = ("get", "find", "resolve", "create")


@dataclass(frozen=True, slots=True)
class _Link:
    """What ``giver`` gives in its result as ``gives``, ``taker`` takes as ``takes``."""

    giver: Subject
    gives: str
    taker: Subject
    takes: str


def sequential(tools: tuple[Subject, ...], choices: Choices) -> Iterator[Draft | LeftOut]:
    """Pairs of tools of which the schemas or descriptions say that one gives what the other takes."""
    found = 0
    for link in choices.shuffled(_links(tools)):
        try:
            draft = _draft(link, tools, choices.of(link.giver.name, link.taker.name))
        except NotGenerated:
            continue  # told where the tool itself is asked for
        yield draft
        found += 1
        if found == _MOST:
            return


def _links(tools: tuple[Subject, ...]) -> Iterator[_Link]:
    for taker in tools:
        for takes in taker.required:
            givers = [
                (each, gives) for each in tools if each is not taker and (gives := _gives(each, taker, takes))
            ]
            if len(givers) == 1:
                yield _Link(givers[0][0], givers[0][1], taker, takes)


def _gives(giver: Subject, taker: Subject, takes: str) -> str:
    """The key of the result of ``giver`` that is what ``taker`` takes; empty where nothing says so."""
    wanted = words_of(takes)
    if len(wanted) < 2 or takes in giver.required:
        return ""  # a bare id, name or path is that of anything
    for name in sorted(properties_of(giver.output)):
        if words_of(name) == wanted:
            return name
    rules: Any = properties_of(taker.schema).get(takes)
    described = str(rules.get("description", "")) if is_object(rules) else ""
    if len(giver.name_words) > 1 and giver.name in described and not giver.output:
        return takes
    is_named = set(wanted) <= set(giver.name_words) and next(iter(giver.name_words), "") in _GIVE
    return takes if is_named and not giver.output else ""


def _draft(link: _Link, tools: tuple[Subject, ...], choices: Choices) -> Draft:
    first, second = request_of(link.giver, choices), request_of(link.taker, choices.of("then"))
    taken = next(each for each in second.said if each.name == link.takes)
    if simple(properties_of(link.taker.schema)[link.takes], link.taker.schema).get("type") == "array":
        raise NotGenerated("it takes several at once")
    others = Request(link.taker, tuple(each for each in second.said if each is not taken))
    clause, rest = clause_of(action_of(link.giver, tools), first)
    then, more = clause_of(action_of(link.taker, tools), others)
    made = made_result(link.giver, choices) if link.giver.output else result_of(first, choices)
    result = {**(made if is_object(made) and link.giver.output else {}), link.gives: taken.value}
    words = [f"First {clause}.", rest, f"Then {then}, with the {taken.label} that you got.", more]
    return Draft(
        name=f"sequential: {link.giver.name}, then {link.taker.name}",
        category=CATEGORY,
        query=sentence(" ".join(word for word in words if word)),
        expect={"calls": [first.expected, second.expected], "order": "ordered"},
        said=values_said([first.arguments, others.arguments]),
        results={link.giver.name: [result], link.taker.name: [result_of(second, choices)]},
    )
