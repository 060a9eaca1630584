"""Which model ``best`` is: the cheapest one that is validated with the session's tools and can be asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ...errors import AuthError, ConsentError, UnvalidatedError
from ...providers import Provider, own_providers
from ...providers.best import best_of
from ..session import Session
from .said_once import SaidOnce

if TYPE_CHECKING:
    from ...validation.standing import Candidate

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class _Found:
    """The ``name`` of a model, and what is to be said of the choice."""

    name: str
    notes: tuple[str, ...]


@dataclass(slots=True)
class BestModels:
    """Finds the models that ``best`` and ``best:PROVIDER`` stand for with the tools of what ``session``
    gives; ``find`` gives the provider of a model. What was found stays so for the session."""

    session: Callable[[], Session]
    find: Callable[[str], Awaitable[tuple[Provider, str]]]
    _found: dict[str, _Found] = field(default_factory=dict[str, "_Found"])
    _notes: SaidOnce = field(default_factory=SaidOnce)

    async def named(self, text: str) -> str:
        """The model that ``text`` stands for, with its mode; ``text`` itself where that names a model.

        Those without a key, or that nobody allowed to be asked, are passed over, and it is said. Raises
        ``UnvalidatedError`` where none is left, and ``StoreError`` where the store cannot be read.
        """
        provider = best_of(text, own_providers(self.session().config))
        if provider is None:
            return text
        if text not in self._found:
            self._found[text] = await self._best(text, provider)
        for note in self._found[text].notes:
            self._notes.say(note, self.session().host)
        return self._found[text].name

    async def _best(self, text: str, provider: str) -> _Found:
        from ...validation.standing import Standings, candidates_of

        session = self.session()
        standings = Standings(session.config, session.toolbox.tools)
        candidates = candidates_of(standings, session.config, provider)
        notes: list[str] = []
        for place, candidate in enumerate(candidates):
            if candidate.badge.status != "validated":
                break
            try:
                asked, model = await self.find(candidate.name)
            except (AuthError, ConsentError) as error:
                notes.append(f"{candidate.text}, but it is passed over: {error}")
                continue
            badge = (await standings.of(asked, model)).badge(asked.format_name)
            if badge.status == "validated":
                return _Found(candidate.name, (*notes, f"{text} is {candidate.text}"))
            candidates[place] = replace(candidate, badge=badge)
        for note in notes:
            self._notes.say(note, self.session().host)
        raise UnvalidatedError(_none_text(text, candidates))


def _none_text(text: str, candidates: Sequence[Candidate]) -> str:
    told = [candidate.text for candidate in candidates[:_SHOWN]]
    told += [f"and {len(candidates) - _SHOWN} more"] if len(candidates) > _SHOWN else []
    tried = "; ".join(told) or "none was ever tried"
    return (
        f"{text} is the cheapest model that is validated with these tools, and none that can be asked is: "
        f"{tried} (`toolspan validate -m PROVIDER/MODEL --trials 20` tries one)"
    )
