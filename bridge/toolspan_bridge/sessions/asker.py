"""Asks models with a session's tools: by which route, and at which provider."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from typing_extensions import override

from toolspan_server.config import Config

from ..conversation import Conversation
from ..errors import AuthError
from ..loop import DEFAULT_SYSTEM, Question
from ..loop.hooks import Hook, hooks_of, installed_hooks
from ..providers import DEFAULT_MODEL, Provider, ProviderPool, own_providers
from ..providers.pool import PoolUser
from ..providers.prices import Pricing
from ..routes import Profile, Route
from .chosen.question import QuestionOptions
from .costs import CostMeter
from .filled_route import filled_route
from .host import Host
from .session import Session
from .standing import BestModels, FailingTools, Modes, Standing
from .warm_documents import WarmDocuments

if TYPE_CHECKING:
    from ..providers.http.settings import HttpSettings
    from ..providers.listing import ModelLister
    from ..providers.resolve import Mode
    from ..validation import ChosenWordings


class RoutedAsker(PoolUser):
    """Finds the route and the provider of each question; connections, and the server of the
    documents that routes want, stay open until the block ends. One ``beside`` another has no block of its
    own: it uses what that one keeps open, and tells what it tells to the host of its own ``session``.
    ``settings`` are those of the providers' HTTP clients."""

    def __init__(
        self, session: Session, *, beside: RoutedAsker | None = None, settings: HttpSettings | None = None
    ) -> None:
        if beside is None:
            super().__init__(ProviderPool(session.config, self._choice, settings))
            self._documents = WarmDocuments(session.config)
        else:
            super().__init__(beside._providers)
            self._documents = beside._documents
        self.session = session
        self._standing = ""

    @override
    async def __aenter__(self) -> Self:
        await self._documents.__aenter__()
        return await super().__aenter__()

    @override
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await super().__aexit__(kind, error, trace)
        finally:
            await self._documents.__aexit__(kind, error, trace)

    async def routed(
        self,
        text: str,
        options: QuestionOptions,
        *,
        profile: Profile | None = None,
        conversation: Conversation | None = None,
    ) -> tuple[Question, Provider]:
        """The question ``text`` in ``conversation`` according to the route that matches it and the caller's
        ``profile``, and its provider; in a conversation in the mode that serves the model best.

        The options' model and system prompt win over their preset, and that over the route. ``best`` is the
        cheapest validated model. A route's model without a key gives way to ``offline/keyword``, and the host
        is told; a ``model`` asked for by name, or by the preset, does not.
        """
        messages = conversation.messages if conversation else ()
        way = await filled_route(self.session, text, profile or {}, self._documents, messages)
        preset = options.preset
        instructions = options.system or (preset.instructions if preset else "")
        way = replace(way, system=instructions or way.system or DEFAULT_SYSTEM)
        model = options.model or (preset.model if preset else "") or os.environ.get("TOOLSPAN_MODEL")
        question, provider, named = await self._asked(text, way, model)
        if preset is not None:
            own = preset.question(text, question.model, self.session.toolbox.tools)
            question = replace(
                question, allowed_tools=own.allowed_tools, builtins=own.builtins, reasoning=own.reasoning
            )
        if conversation is not None:
            provider = await self._modes.provider_of(named, question, provider, conversation)
        return question, provider

    async def _asked(self, text: str, way: Route, chosen: str | None) -> tuple[Question, Provider, str]:
        """The question, its provider, and its model as it is named."""
        if not (chosen or way.model):
            self._standing = self._standing or await self.session.host.standing_model()
        if chosen or not way.model:
            return await self._question(text, way, chosen or self._standing)
        try:
            return await self._question(text, way, way.model)
        except AuthError as error:
            self.session.host.note(
                f"the route names {way.model}, but {error}; "
                f"{DEFAULT_MODEL} answers, which is no language model"
            )
            return await self._question(text, way, DEFAULT_MODEL)

    async def provider_of(self, model: str) -> Provider:
        """The provider of ``provider/model``. Raises as ``ProviderPool.get``."""
        return (await self._providers.get(model))[0]

    @cached_property
    def standing(self) -> Standing:
        """How the models that are asked stand in validation."""
        return Standing(self._now)

    @cached_property
    def failing_tools(self) -> FailingTools:
        """The tools that the models fail with."""
        return FailingTools(self._now)

    @cached_property
    def best_models(self) -> BestModels:
        """Which models ``best`` stands for."""
        return BestModels(self._now, self.find)

    @cached_property
    def _modes(self) -> Modes:
        return Modes(self._now, self.find)

    def _now(self) -> Session:
        """The session as it is now: a chat may be given further servers."""
        return self.session

    @cached_property
    def lister(self) -> ModelLister:
        """What lists the models of providers, the config's own among them."""
        from ..providers.listing import ModelLister

        return ModelLister(own_providers(self.session.config))

    async def find(self, model: str) -> tuple[Provider, str]:
        """The provider of ``provider/model`` and the model's name there. Raises as ``ProviderPool.get``."""
        return await self._providers.get(model)

    def _choice(self, model: str, mode: Mode) -> str:
        return self._choices(model, mode)

    @cached_property
    def _choices(self) -> ChosenWordings:
        return chosen_wordings(self.session.config, self.session.host)

    def meter(self, question: Question, provider: Provider) -> CostMeter:
        """What adds up the cost of ``question``."""
        own = provider.name in self.session.config.providers
        return CostMeter(Pricing(provider.name, question.model, own=own))

    async def _question(self, text: str, way: Route, model: str) -> tuple[Question, Provider, str]:
        named = await self.best_models.named(model)
        provider, name = await self._providers.get(named)
        return replace(way.question(text, name), hooks=self.hooks), provider, named

    @cached_property
    def hooks(self) -> tuple[Hook, ...]:
        """The hooks of installed packages, which the host is told of, and of the config. Raises
        ``UsageError``."""
        installed = installed_hooks()
        for hook in installed:
            of = "" if hook.tools is None else f" of {', '.join(hook.tools)}"
            point = hook.point.replace("_", " each ")
            self.session.host.note(
                f"the hook {hook.name} of the installed package {hook.package} runs {point}{of}"
            )
        return (*installed, *hooks_of(self.session.config))


def chosen_wordings(config: Config, host: Host) -> ChosenWordings:
    """The wordings and renderings that validation has chosen beside ``config``; ``host`` is told where they
    cannot be read."""
    from ..validation import ChosenWordings
    from ..validation.stores import store_of

    return ChosenWordings(store_of(config), host.note)
