"""How a session's model stands in validation with the session's tools, and what the config does about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...errors import StoreError, UnvalidatedError
from ...loop import Question
from ...providers import Provider
from ..session import Session

if TYPE_CHECKING:
    from ...validation import Badge

_NOT_MODELS = ("offline", "scripted")


@dataclass(slots=True)
class Standing:
    """Looks up the badges of the models that are asked in what ``session`` gives."""

    session: Callable[[], Session]
    _warned: set[str] = field(default_factory=set[str])

    async def badge(self, question: Question, provider: Provider) -> Badge:
        """The badge of the question's model, asked as ``provider`` asks it, with the session's tools as they
        are now. Raises ``StoreError`` where the store cannot be read."""
        from ...validation.standing import Standings

        standings = Standings(self.session().config, self.session().toolbox.tools)
        return (await standings.of(provider, question.model)).badge(provider.format_name)

    async def heed(self, question: Question, provider: Provider, *, say: bool = True) -> None:
        """Do what the config says about a model that is not validated and is to have tools: nothing; say so,
        once for each model; or raise ``UnvalidatedError``. Without ``say`` the person was told already."""
        own = self.session().config.validation
        rule = own.on_unvalidated if own else "warn"
        if rule == "ignore" or not self.session().toolbox.tools or question.allowed_tools == ():
            return
        model = f"{provider.name}/{question.model}"
        if rule == "warn" and (provider.name in _NOT_MODELS or model in self._warned):
            return
        try:
            badge = await self.badge(question, provider)
        except StoreError as error:
            if rule == "refuse":
                raise
            self._warned.add(model)
            if say:
                self.session().host.note(f"whether {model} is validated is not known: {error}")
            return
        if badge.status == "validated":
            return
        if rule == "refuse":
            raise UnvalidatedError(
                f"{_told(model, badge)}, and the config refuses such models (`toolspan validate -m {model}` "
                "tries it; with validation.on_unvalidated: warn it is asked all the same)"
            )
        self._warned.add(model)
        if say:
            self.session().host.note(f"{_told(model, badge)} (`toolspan validate -m {model}` tries it)")


def _told(model: str, badge: Badge) -> str:
    if badge.status == "untested":
        return f"{model} was never tested with tools"
    return f"{model} is not validated with these tools: {badge.text}"
