"""Tools whose names and descriptions are worded differently, shortened or misspelt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..actions import action_of, near
from ..choices import Choices
from ..drafts import Draft
from ..english import sentence
from ..problems import LeftOut, NotGenerated
from ..requests import Request, request_of, values_said
from ..results import result_of
from ..sentences import query_of
from ..subjects import Subject

CATEGORY = "perturbed"
_MOST = 6
_NEAR = 4
_OTHER_VERBS = {
    "get": "fetch",
    "fetch": "get",
    "read": "open",
    "list": "enumerate",
    "search": "find",
    "find": "look_up",
    "create": "make",
    "add": "append",
    "delete": "remove",
    "remove": "delete",
    "update": "modify",
    "send": "dispatch",
    "write": "store",
    "calculate": "compute",
    "convert": "change",
    "run": "execute",
    "execute": "run",
}


def perturbed(tools: tuple[Subject, ...], choices: Choices) -> Iterator[Draft | LeftOut]:
    """Of up to six tools, a query for the tool under another name, with its description, with a short or with
    a misspelt one. (A server's own name stays with its own description.)"""
    taken = {tool.name for tool in tools}
    ways = (_kept, _terse, _misspelt)
    found = 0
    for tool in choices.shuffled(tools):
        mine = choices.of(tool.name)
        changed = _renamed(ways[found % len(ways)](tool, mine), mine)
        try:
            request = request_of(tool, mine)
            query = query_of(action_of(tool, tools), request, mine)
        except NotGenerated:
            continue  # told where the tool itself is asked for
        if changed.name in taken:
            continue
        found += 1
        asked = Request(changed, request.said)
        yield Draft(
            name=f"perturbed: {tool.name} as {changed.name}",
            category=CATEGORY,
            query=query,
            expect={"calls": [asked.expected]},
            said=values_said(request.arguments),
            offered=sorted(each.name for each in near(tool, tools, _NEAR)),
            defined=[changed],
            results={changed.name: [result_of(request, mine)]},
        )
        if found == _MOST:
            return


def _renamed(tool: Subject, choices: Choices) -> Subject:
    words = [_OTHER_VERBS.get(word, word) for word in tool.name_words] or [tool.name]
    camel = words[0] + "".join(map(sentence, words[1:]))
    others = [each for each in (camel, "-".join(words), "_".join(words)) if each != tool.name]
    return replace(tool, name=choices.one(others, "name")) if others else tool


def _kept(tool: Subject, choices: Choices) -> Subject:
    del choices
    return tool


def _terse(tool: Subject, choices: Choices) -> Subject:
    del choices
    return replace(tool, description=" ".join(tool.description.split()[:3]).strip(" .,:;"))


def _misspelt(tool: Subject, choices: Choices) -> Subject:
    """Two letters exchanged in every third of the longer words."""
    words, longer = tool.description.split(" "), 0
    for place, word in enumerate(words):
        if len(word) > 4 and word.isalpha():
            longer += 1
            at = choices.number(1, len(word) - 3, f"at {place}")
            if longer % 3 == 1:
                words[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return replace(tool, description=" ".join(words))
