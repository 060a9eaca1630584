"""How a session's model stands in validation with the session's tools, and what the config does about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...errors import StoreError, UnvalidatedError, UsageError
from ...loop import Question
from ...providers import Provider, split_model
from ..terminal.output import print_note
from .session import Session

if TYPE_CHECKING:
    from ...validation import Badge, Record

_NOT_MODELS = ("offline", "scripted")


@dataclass(slots=True)
class Standing:
    """Looks up the badges of the models that a session asks."""

    session: Session
    _warned: set[str] = field(default_factory=set[str])

    async def badge(self, question: Question, provider: Provider) -> Badge:
        """The badge of the question's model, asked as ``provider`` asks it, with the session's tools as they
        are now. Raises ``StoreError`` where the store cannot be read."""
        from ...validation import STORE_FILE, UNTESTED, BadgeRule, badge_of_model, present_of, read_records

        config = self.session.config
        path = config.state_directory / STORE_FILE
        if not path.exists():
            return UNTESTED
        mine = [record for record in read_records(path) if self._is_of(record, question, provider)]
        if not mine:
            return UNTESTED
        now = await self._now(question, provider, mine)
        found = read_records(path, present_of(config, now))
        same = [record for record in found if self._is_of(record, question, provider)]
        return badge_of_model(same, BadgeRule.of(config))

    async def heed(self, question: Question, provider: Provider, *, say: bool = True) -> None:
        """Do what the config says about a model that is not validated and is to have tools: nothing; say so,
        once for each model; or raise ``UnvalidatedError``. Without ``say`` the person was told already."""
        own = self.session.config.validation
        rule = own.on_unvalidated if own else "warn"
        if rule == "ignore" or not self.session.toolbox.tools or question.allowed_tools == ():
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
                print_note(f"whether {model} is validated is not known: {error}")
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
            print_note(f"{_told(model, badge)} (`toolspan validate -m {model}` tries it)")

    async def _now(self, question: Question, provider: Provider, mine: list[Record]) -> Mapping[str, str]:
        """What is known here of the fingerprint's parts; the model's version is asked for where one was
        told."""
        from ...providers.identity import identity_of
        from ...validation.fingerprint import hash_of_tools, mode_parts

        parts = {"tools": hash_of_tools(self.session.toolbox.tools), **mode_parts(provider.format_name)}
        if any(record.fingerprint and record.fingerprint.model_version for record in mine):
            version = (await identity_of(provider, question.model)).version
            parts |= {"model_version": version} if version else {}
        return parts

    def _is_of(self, record: Record, question: Question, provider: Provider) -> bool:
        mark = record.fingerprint
        if mark is not None and mark.provider:
            return (mark.provider, mark.model) == (provider.name, question.model)
        try:
            named = split_model(record.model_id, self.session.config.providers)
        except UsageError:
            return False  # of a provider that the config no longer has
        return named == (provider.name, question.model)


def _told(model: str, badge: Badge) -> str:
    if badge.status == "untested":
        return f"{model} was never tested with tools"
    return f"{model} is not validated with these tools: {badge.text}"
