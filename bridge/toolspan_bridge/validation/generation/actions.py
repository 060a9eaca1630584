"""What a tool does, as the request of a person: ``get current weather for a location``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from .english import base_verb, label_of, telling_words, words_of
from .likeness import likeness_to
from .problems import NotGenerated
from .subjects import Subject

_SHORT, _LONG = 12, 18
"""How many words of a description are said: of its first sentence, and of the first clause of that."""

_SAID = {"return": ("give", "me"), "retrieve": ("get",), "execute": ("run",), "perform": ()}
"""What a person says for a description's verb."""

_END = re.compile(r"\n|[.;!?](?:\s|$)|\s[-–—]\s|\s\(|\bhttps?://")
_CLAUSE = re.compile(
    r",| which | that | so that | as well as | in order to | then | and returns? | including | where ",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[*_`#<>\[\]{}|\"]")
_SELF = re.compile(r"\b(?:this tool|you must|model context protocol)\b", re.IGNORECASE)


def action_of(tool: Subject, tools: tuple[Subject, ...]) -> str:
    """The request that ``tool`` serves better than each other one of ``tools``, a phrase with a verb first.

    Raises ``NotGenerated`` where none of its words say which of them is meant.
    """
    likeness = likeness_to(tools)
    fitting = ""
    for action in _phrases(tool):
        rival = likeness.rival(telling_words(action), tool)
        if rival is None or not _alike(tool, rival):
            return action
        fitting = rival.name
    raise NotGenerated(f"its name and description fit {fitting!r} as well")


def near(tool: Subject, tools: tuple[Subject, ...], most: int) -> list[Subject]:
    """Up to ``most`` of ``tools`` that are most like ``tool``, the nearest first; of very many, of those that
    share its rarest words."""
    return likeness_to(tools).near(tool, most)


def _phrases(tool: Subject) -> Iterator[str]:
    """What may be said, the most natural first."""
    described = _first_sentence(tool.description)
    for text, most in ((described, _SHORT), (_CLAUSE.split(described)[0], _LONG)):
        if (phrase := _imperative(text)) and len(phrase.split()) <= most:
            yield phrase
    yield _of_name(tool)


def _first_sentence(description: str) -> str:
    text = description.strip()[:600]
    text = text.rpartition(" | ")[2] if " | " in text[:40] else text
    text = _END.split(text)[0]
    return "" if _SELF.search(text) else " ".join(_MARKS.sub("", text).split())


def _imperative(text: str) -> str:
    """``text`` as a wish: ``Returns the sum`` is return the sum; empty where it has no verb first."""
    words = text.strip(" .,:;").split()
    verb = base_verb(words[0]) if words else None
    if verb is None or len(words) < 2 or (verb == "perform" and base_verb(words[1]) is None):
        return ""
    words[:1] = _SAID.get(verb, (verb,))
    for place in range(1, min(len(words) - 1, 9)):
        if words[place - 1] in ("and", "or", "optionally") and words[place].endswith("s"):
            words[place] = base_verb(words[place]) or words[place]
    return re.sub(r"\byour\b", "my", " ".join(words))


def _of_name(tool: Subject) -> str:
    words = list(tool.name_words)
    verb = next((place for place, word in enumerate(words) if word in _name_verbs()), None)
    if verb is None:
        return f"use {tool.name}"
    rest = words[verb + 1 :]
    where = f" with {' '.join(words[:verb])}" if verb else ""
    if not rest:
        return f"{words[verb]} something{where}" if not tool.required else f"{words[verb]}{where}"
    return f"{words[verb]} the {label_of(' '.join(rest))}{where}"


def _name_verbs() -> Collection[str]:
    from .english import verbs

    return verbs()


def _alike(tool: Subject, other: Subject) -> bool:
    """Whether ``other`` could be called with what is said of ``tool``."""
    ours, others = ({*map(_plain, (*each.required, *each.optional))} for each in (tool, other))
    return {*map(_plain, other.required)} <= ours and {*map(_plain, tool.required)} <= others


def _plain(name: str) -> str:
    return "".join(words_of(name))
