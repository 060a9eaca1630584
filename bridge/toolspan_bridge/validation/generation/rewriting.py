"""Queries that a model words anew."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from ...errors import ProviderError
from .drafts import Draft

_LONGEST = 800
_AS_THEY_ARE = frozenset(("irrelevance", "missing_parameter"))
"""Queries of which the point is what they do not say."""

_WISH = """Here is a request to an assistant. Write it anew as a person would say it: natural English, one
or two sentences, the same meaning, nothing added and nothing left out. Each of these must be in it exactly
as it stands here: {values}. Answer with the request alone.

{query}"""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The scenarios, and for each whose query stayed as it was its name and why."""

    drafts: tuple[Draft, ...]
    kept: tuple[tuple[str, str], ...]


async def rewritten(drafts: Sequence[Draft], ask: Callable[[str], Awaitable[str]]) -> Rewritten:
    """``drafts`` with queries in the words of the model that ``ask`` puts a question to.

    A query that lacks one of its values, or is no short text, is not taken, and neither is one for which the
    provider gave an error. Raises as ``ask``, but for ``ProviderError``.
    """
    made: list[Draft] = []
    kept: list[tuple[str, str]] = []
    for draft in drafts:
        if draft.category in _AS_THEY_ARE:
            made.append(draft)
            continue
        query, why = await _asked(draft, ask)
        made.append(draft if why else replace(draft, query=query))
        if why:
            kept.append((draft.name, why))
    return Rewritten(tuple(made), tuple(kept))


async def _asked(draft: Draft, ask: Callable[[str], Awaitable[str]]) -> tuple[str, str]:
    """The new query, and why it is none."""
    values = ", ".join(f"`{each}`" for each in dict.fromkeys(draft.said)) or "(nothing in particular)"
    try:
        answer = await ask(_WISH.format(values=values, query=draft.query))
    except ProviderError as error:
        return "", error.message or "the provider gave an error"
    query = answer.strip()
    if not query or len(query) > _LONGEST or "\n" in query:
        return "", "the answer is no short text"
    lacking = missing(query, draft.said)
    return query, f"{', '.join(map(repr, lacking))} is not in it" if lacking else ""


def missing(query: str, said: Sequence[str]) -> list[str]:
    """Those of ``said`` that ``query`` does not hold as words of their own, in any case."""
    return [each for each in said if not re.search(rf"(?<!\w){re.escape(each)}(?!\w)", query, re.IGNORECASE)]
