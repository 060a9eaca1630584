"""Requests as a person would write them."""

from __future__ import annotations

import re

from ...providers.wire.json_types import is_list
from .choices import Choices
from .english import listed, sentence, words_of
from .requests import Request, Said

_OPENINGS = ("", "", "Please ", "Could you ", "Can you ", "I need you to ", "I'd like you to ")
_PLACES = frozenset(["city", "location", "place", "town", "country"])
_SEARCHED = frozenset(words_of("query q search question keyword keywords topic term phrase"))
_SEARCHES = re.compile(r"\b(search|find|look|lookup|list)\b")


def query_of(action: str, request: Request, choices: Choices) -> str:
    """``action`` with every argument of ``request``, one or two sentences that end with a mark."""
    clause, rest = clause_of(action, request)
    opening = choices.one(_OPENINGS, "opening")
    end = "?" if opening.startswith(("Could", "Can")) else "."
    first = _ended(f"{opening}{clause}" if opening else clause, end)
    return sentence(f"{first} {rest}".strip())


def clause_of(action: str, request: Request) -> tuple[str, str]:
    """``action`` with the arguments that it takes in, and a sentence with the others, or nothing."""
    clause, left = action, list[Said]()
    for each in request.said:
        inlined = _inlined(clause, each)
        clause, left = (inlined, left) if inlined else (clause, [*left, each])
    if len(left) == 1 and words_of(left[0].name)[-1:] and words_of(left[0].name)[-1] in _SEARCHED:
        joint = (
            "about" if clause.endswith(("information", "documentation", "docs", "examples")) else "matching"
        )
        if _SEARCHES.search(clause):
            return f"{clause} {joint} {left[0].words}", ""
    if not left:
        return clause, ""
    if len(left) <= 2 and " with " not in clause and all(len(each.words) < 50 for each in left):
        return f"{clause} with {listed([named(each) for each in left])}", ""
    return clause, _ended(sentence(listed([_stated(each) for each in left])), ".")


def bare_clause(action: str, request: Request, missing: str) -> tuple[str, str]:
    """As ``clause_of``, without the argument ``missing`` and without the words that stand for it."""
    said = tuple(each for each in request.said if each.name != missing)
    gone = next(each for each in request.said if each.name == missing)
    shorter = re.sub(
        rf"\s+(?:based\s+)?(?:for|of|in|from|at|to|by|on|with|about)\s+(?:an?|the|this|your|specific|given|provided|specified)\b"
        rf"(?:\s+\w+){{0,2}}?\s+{re.escape(gone.label)}\b(?=\s*$)",
        "",
        action,
    )
    return clause_of(shorter, Request(request.tool, said))


def _inlined(clause: str, said: Said) -> str | None:
    """``clause`` with the value where it names the argument: for a location is for Paris."""
    named = re.compile(
        rf"\b(?:an?|the|this|your|my)\s+((?:(?:specific|given|provided|specified|single|exact)\s+)?)"
        rf"((?:\w+\s+){{0,2}}?){re.escape(said.label)}\b(?=\s+(?:to|in|of|on|from|with|by|for|at|as)\b|\s*[.,;]|\s*$)",
        re.IGNORECASE,
    )
    found = None if isinstance(said.value, bool | list | dict) else named.search(clause)
    if found is None:
        return None
    if set(words_of(said.name)) & _PLACES:
        instead = said.words
    else:
        instead = f"the {found.group(2)}{said.label} {said.words}"
    return clause[: found.start()] + instead + clause[found.end() :]


def named(said: Said) -> str:
    """The argument and its value, after ``with``."""
    if len(said.label) <= 1:
        return f"{said.label} = {said.words}"
    if isinstance(said.value, bool):
        return f"{said.label} set to {said.words}"
    return f"the {said.label} {said.words}"


def _stated(said: Said) -> str:
    if len(said.label) <= 1:
        return f"{said.label} is {said.words}"
    several = is_list(said.value) and len(said.value) > 1
    return f"the {said.label} {'are' if several else 'is'} {said.words}"


def _ended(text: str, mark: str) -> str:
    """``text`` with ``mark`` at its end; after a path or an address there is a space before none of them."""
    return text if text.endswith((".", "?", "!")) else text + mark
