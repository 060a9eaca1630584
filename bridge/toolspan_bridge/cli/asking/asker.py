"""Asks models with a session's tools: by which route, at which provider, over pooled connections."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from types import TracebackType
from typing import Self

from ...errors import AuthError
from ...events import Answer
from ...loop import Question, answer
from ...providers import (
    DEFAULT_MODEL,
    Provider,
    foreign_provider,
    own_providers,
    resolve_model,
    split_model,
)
from ...routes import Route, route
from ..terminal.output import note
from .options import AskOptions
from .session import Session

DEFAULT_SYSTEM = (
    "You are a helpful assistant with tools. Use a tool where it helps; otherwise answer directly."
)


class Asker:
    """Resolves each model once and keeps its connections open until the block ends."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._providers: dict[str, tuple[Provider, str]] = {}
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    async def provider(self, model: str) -> tuple[Provider, str]:
        """Who answers for ``provider/model``, and the model's name there; raises as ``resolve_model``."""
        if model not in self._providers:
            own = own_providers(self.session.config)
            self.session.choice.allow(foreign_provider(self.session.config, split_model(model, own)[0]))
            provider, name = resolve_model(model, own=own)
            await self._open.enter_async_context(aclosing(provider))
            self._providers[model] = (provider, name)
        return self._providers[model]

    async def ask(self, model: str, query: str) -> Answer:
        """Put ``query`` to ``model`` with every tool of the session."""
        provider, name = await self.provider(model)
        limit = self.session.config.tools.max_iterations
        question = Question(query, name, system=DEFAULT_SYSTEM, max_iterations=limit)
        return await answer(question, provider, self.session.toolbox)

    async def routed(
        self, text: str, options: AskOptions, *, service: str | None = None
    ) -> tuple[Question, Provider]:
        """The question ``text`` as the matching route says, and who answers it.

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
            note(
                f"the route names {way.model}, but {error}; "
                f"{DEFAULT_MODEL} answers, which is no language model"
            )
            return await self._question(text, way, DEFAULT_MODEL)

    async def _question(self, text: str, way: Route, model: str) -> tuple[Question, Provider]:
        provider, name = await self.provider(model)
        return way.question(text, name), provider


def default_model() -> str:
    """The model when none is asked for: $TOOLSPAN_MODEL, else ``offline/keyword``."""
    return os.environ.get("TOOLSPAN_MODEL") or DEFAULT_MODEL
