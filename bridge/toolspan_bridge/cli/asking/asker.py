"""Asks models with a session's tools: by which route, and at which provider."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from toolspan_server.config import Config

from ...errors import AuthError
from ...loop import DEFAULT_SYSTEM, Question
from ...providers import DEFAULT_MODEL, Provider, ProviderPool
from ...providers.pool import PoolUser
from ...routes import Route, route
from ..terminal.costs import CostMeter
from ..terminal.output import print_note
from .options import AskOptions
from .session import Session

if TYPE_CHECKING:
    from ...validation import ChosenWordings


class RoutedAsker(PoolUser):
    """Finds the route and the provider of each question; connections stay open until the block ends."""

    def __init__(self, session: Session) -> None:
        super().__init__(ProviderPool(session.config, session.choice.allow, self._wording))
        self.session = session

    async def routed(
        self, text: str, options: AskOptions, *, service: str | None = None
    ) -> tuple[Question, Provider]:
        """The question ``text`` according to the matching route, and its provider.

        The options' model and system prompt win over the route. A route's model without a key gives way to
        ``offline/keyword``, and stderr says so; a ``model`` asked for by name does not.
        """
        way = route(self.session.config, text, service=service)
        way = replace(way, system=options.system or way.system or DEFAULT_SYSTEM)
        if chosen := options.model or os.environ.get("TOOLSPAN_MODEL"):
            return await self._question(text, way, chosen)
        try:
            return await self._question(text, way, way.model or DEFAULT_MODEL)
        except AuthError as error:
            print_note(
                f"the route names {way.model}, but {error}; "
                f"{DEFAULT_MODEL} answers, which is no language model"
            )
            return await self._question(text, way, DEFAULT_MODEL)

    def _wording(self, model: str) -> str:
        return self._wordings(model)

    @cached_property
    def _wordings(self) -> ChosenWordings:
        return chosen_wordings(self.session.config)

    def meter(self, question: Question, provider: Provider) -> CostMeter:
        """What adds up the cost of ``question``."""
        return CostMeter(provider.name, question.model, own=provider.name in self.session.config.providers)

    async def _question(self, text: str, way: Route, model: str) -> tuple[Question, Provider]:
        provider, name = await self._providers.get(model)
        return way.question(text, name), provider


def chosen_wordings(config: Config) -> ChosenWordings:
    """The wordings that validation has chosen beside ``config``; stderr says so where they cannot be read."""
    from ...validation import STORE_FILE, ChosenWordings

    return ChosenWordings(config.state_directory / STORE_FILE, print_note)


def default_model() -> str:
    """The model when none is asked for: $TOOLSPAN_MODEL, else ``offline/keyword``."""
    return os.environ.get("TOOLSPAN_MODEL") or DEFAULT_MODEL
