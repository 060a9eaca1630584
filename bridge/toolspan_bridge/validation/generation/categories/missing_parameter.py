"""Queries that leave out what a tool needs: the model must ask."""

from __future__ import annotations

from collections.abc import Iterator

from ....providers.wire.json_types import is_list
from ..actions import action_of
from ..choices import Choices
from ..drafts import Draft
from ..english import sentence, words_of
from ..problems import LeftOut, NotGenerated
from ..requests import Request, Said, request_of, values_said
from ..schemas import properties_of, simple
from ..sentences import bare_clause
from ..subjects import Subject

CATEGORY = "missing_parameter"
_MOST = 10
_ASKS = (
    r"(?i)\?|\b(which|what|please (provide|specify|tell|give|share|let)|let me know|need to know|missing)\b"
)
_MUST_BE_SAID = frozenset(
    words_of(
        "city location place email recipient phone date amount path url file expression source destination "
        "name address"
    )
)
"""What a model can make up of no other argument."""

_CHOOSES_FILE = frozenset(["take", "capture", "save", "export", "start", "record", "download"])
_NOT_ASKED = frozenset(
    words_of(
        "id uid uuid ref token cursor key index timezone tz page limit element target selector format mode "
        "type sha user username owner account login workspace thought code script function repo repository "
        "project"
    )
)
"""What no person would be asked for: a model looks it up, or knows it from elsewhere."""


def missing_parameter(tools: tuple[Subject, ...], choices: Choices) -> Iterator[Draft | LeftOut]:
    """Of up to ten tools, a query without one of the required arguments: it is not to be called, and the
    answer asks."""
    found = 0
    for tool in choices.shuffled(tools):
        mine = choices.of(tool.name)
        try:
            request = request_of(tool, mine)
            action = action_of(tool, tools)
        except NotGenerated:
            continue  # told where the tool itself is asked for
        asked = [each for each in request.said if _must_be_asked_for(each, tool, tools)]
        if not asked:
            continue
        yield _draft(action, request, mine.one(asked, "missing"), tools)
        found += 1
        if found == _MOST:
            return


def _draft(action: str, request: Request, missing: Said, tools: tuple[Subject, ...]) -> Draft:
    clause, rest = bare_clause(action, request, missing.name)
    kept = {each.name: each.value for each in request.said if each is not missing}
    return Draft(
        name=f"missing parameter: {missing.name} of {request.tool.name}",
        category=CATEGORY,
        query=f"{sentence(clause)}{'' if clause.endswith('.') else '.'} {rest}".strip(),
        expect={
            "never": [tool.name for tool in tools if missing.name in tool.required],
            "answer": {"matches": _ASKS},
        },
        said=values_said(kept),
    )


def _must_be_asked_for(said: Said, tool: Subject, tools: tuple[Subject, ...]) -> bool:
    words = words_of(said.name)
    rules = simple(properties_of(tool.schema).get(said.name, {}), tool.schema)
    if (
        said.name not in tool.required
        or "default" in rules
        or "const" in rules
        or not isinstance(said.value, str)
    ):
        return False
    if is_list(rules.get("enum")) or _NOT_ASKED & set(words):
        return False
    if _CHOOSES_FILE & set(tool.name_words) and {"path", "file", "filename"} & set(words):
        return False
    if len(tool.required) > 1 and not _MUST_BE_SAID & set(words):
        return False
    described = str(rules.get("description", ""))
    if any(other.name in described for other in tools):
        return False  # another tool gives it
    return not any(_gives(other, words) for other in tools if other is not tool)


def _gives(other: Subject, words: list[str]) -> bool:
    return (
        not other.required
        and set(words) <= set(other.words)
        and other.name_words[:1] in (("list",), ("get",))
    )
