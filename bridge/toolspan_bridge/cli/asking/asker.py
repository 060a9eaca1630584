"""Asks models with a session's tools: by which route, and at which provider."""

from __future__ import annotations

import os
from dataclasses import replace

from ...errors import AuthError
from ...loop import DEFAULT_SYSTEM, Question
from ...providers import DEFAULT_MODEL, Provider, ProviderPool
from ...providers.pool import PoolUser
from ...routes import Route, route
from ..terminal.costs import CostMeter
from ..terminal.output import print_note
from .options import AskOptions
from .session import Session


class RoutedAsker(PoolUser):
    """Finds the route and the provider of each question; connections stay open until the block ends."""

    def __init__(self, session: Session) -> None:
        super().__init__(ProviderPool(session.config, session.choice.allow))
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

    def meter(self, question: Question, provider: Provider) -> CostMeter:
        """What adds up the cost of ``question``."""
        return CostMeter(provider.name, question.model, own=provider.name in self.session.config.providers)

    async def _question(self, text: str, way: Route, model: str) -> tuple[Question, Provider]:
        provider, name = await self._providers.get(model)
        return way.question(text, name), provider


def default_model() -> str:
    """The model when none is asked for: $TOOLSPAN_MODEL, else ``offline/keyword``."""
    return os.environ.get("TOOLSPAN_MODEL") or DEFAULT_MODEL
