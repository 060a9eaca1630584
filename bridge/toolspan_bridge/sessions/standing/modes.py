"""In which mode a model is asked: by prompts where it was measured to do better so, as the config says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from ...conversation import Conversation
from ...errors import StoreError
from ...loop import Question
from ...providers import Provider, own_providers
from ...providers.resolve import bare_model, names_mode
from ..session import Session
from .said_once import SaidOnce

Find = Callable[[str], Awaitable[tuple[Provider, str]]]


@dataclass(slots=True)
class Modes:
    """Chooses the modes of the models of what ``session`` gives; ``find`` gives the provider of a model."""

    session: Callable[[], Session]
    find: Find
    _decided: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """What is to be said of a model (``provider/model``) in the conversation of an id."""
    _notes: SaidOnce = field(default_factory=SaidOnce)

    async def provider_of(
        self, model: str, question: Question, provider: Provider, conversation: Conversation
    ) -> Provider:
        """The provider that asks ``question`` in ``conversation``: ``provider`` itself, that of ``model`` as
        it is named, or the same with a prompt.

        A model that is named with a mode is asked in it, and one that has answered in the conversation goes
        on as it did, whatever was measured since. What is decided for another is said, once.
        """
        own = own_providers(self.session().config)
        if names_mode(model, own) or not self._has_tools(question):
            return provider
        key, bare = f"{provider.name}/{question.model}", bare_model(model, own)
        decided = (conversation.id, key)
        if decided not in self._decided:
            if _has_answered(key, conversation):
                self._decided[decided] = _kept_text(bare, conversation.modes.get(key))
            else:
                self._decided[decided] = await self._decide(bare, key, question, provider, conversation)
        self._notes.say(self._decided[decided], self.session().host)
        mode = conversation.modes.get(key)
        return (await self.find(f"{mode}:{bare}"))[0] if mode else provider

    def _has_tools(self, question: Question) -> bool:
        return bool(self.session().toolbox.tools) and question.allowed_tools != ()

    async def _decide(
        self, bare: str, key: str, question: Question, provider: Provider, conversation: Conversation
    ) -> str:
        """Note the mode in ``conversation``; what is to be said of it."""
        from ...validation.standing import Standings

        conversation.modes.pop(key, None)
        session = self.session()
        rule = session.config.validation.better_mode if session.config.validation else "use"
        if rule == "ignore":
            return ""
        standings = Standings(session.config, session.toolbox.tools)
        try:
            better = (await standings.of(provider, question.model)).better_mode()
        except StoreError as error:
            return f"whether {bare} does better by prompts is not known: {error}"
        if better is None:
            return ""
        if rule == "say":
            return f"{bare} does better by prompts: {better.text}; -m {better.named(bare)} uses it so"
        conversation.modes[key] = f"prompt.{better.wording}"
        return f"{bare} is used by prompts: {better.text}; -m native:{bare} uses its own calls"


def _kept_text(bare: str, mode: str | None) -> str:
    if mode is None:
        return ""
    return f"{bare} is used by prompts, as before in this conversation; -m native:{bare} uses its own calls"


def _has_answered(key: str, conversation: Conversation) -> bool:
    return key in conversation.models or key in conversation.beginnings
