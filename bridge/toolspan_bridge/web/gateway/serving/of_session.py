"""Who answers a request, of the app's session: the model, its route or preset, the tools, and who decides."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from ....conversation import Conversation
from ....errors import UsageError
from ....loop import Question
from ....messages import User
from ....presets import CALCULATOR, Preset, PresetStore
from ....providers import Provider, own_providers, split_model
from ....providers.prices import Pricing
from ....routes import unmatched
from ....sessions.agent import agent_of
from ....sessions.chosen.approvals import ApprovalChoice
from ....sessions.chosen.question import QuestionOptions
from ....sessions.kept.saved_conversation import SavedConversation
from ....sessions.session import Session
from ....sessions.standing import Standing
from ..faults import RequestFault
from .caller import Caller, admitted
from .choosing import Choice
from .models import ListedModel, Models
from .our_tools import with_chosen_tools
from .request_host import RequestHost
from .running import Prepared

if TYPE_CHECKING:
    from starlette.requests import Request

    from ...app.live import Served
    from ...app.state import App
    from ...keys import VirtualKeys

__all__ = ["SessionPreparation", "asked_model", "caller_of", "listed_models", "preset_of"]

_BADGE_SECONDS = 10.0


@dataclass(slots=True)
class SessionPreparation:
    """Prepares the runs of requests with the session of ``app`` as it is when each begins."""

    app: App
    _standing: dict[tuple[int, str], tuple[float, tuple[str, ...]]] = field(
        default_factory=dict[tuple[int, str], tuple[float, tuple[str, ...]]]
    )
    """Until when it is known what is to be said of a model."""

    @asynccontextmanager
    async def __call__(
        self, asked: User, choice: Choice, conversation: Conversation, caller: Caller
    ) -> AsyncGenerator[Prepared]:
        """As ``Prepare`` says."""
        async with (
            self.app.using(caller.principal) as served,
            admitted(caller, self._keys, _prices(served)) as paying,
        ):
            host = RequestHost(served.session.host, caller.principal)
            session = replace(served.session, host=host)
            preset = preset_of(choice, caller.principal, host)
            question, provider = await asked_model(served, asked.text, choice, preset, conversation, caller)
            caller.check_model(choice, f"{provider.name}/{question.model}")
            question, session = with_chosen_tools(question, session, caller.choosing(choice))
            host.notes += await self._heeded(served, session, question, provider)
            meter = served.asker.meter(question, provider)
            saved = SavedConversation(conversation, None, host)
            paid = paying.provider(provider)
            agent = agent_of(
                question, paid, meter, session, ApprovalChoice(), saved, f"gateway {caller.principal}"
            )

            async def find(model: str) -> tuple[Provider, str]:
                provider, name = await served.asker.find(model)
                caller.check_model(Choice(), f"{provider.name}/{name}")
                return paying.provider(provider), name

            charging = agent.spending.charging(find, session.config.providers)
            sampler = session.client.sampler_for(agent.question, agent.provider, agent.approver, charging)
            yield Prepared(
                agent.question,
                provider,
                agent.toolbox.answering(host.elicitor(), sampler),
                agent.approver,
                meter.pricing,
                tuple(host.notes),
                agent.provider,
                served.number,
                lambda question: paying.limited(question, provider),
                agent.spending,
            )

    def _keys(self) -> VirtualKeys:
        from ...keys import VirtualKeys

        return self.app.of(VirtualKeys)

    async def _heeded(
        self, served: Served, session: Session, question: Question, provider: Provider
    ) -> tuple[str, ...]:
        """What the config says of a model that is not validated. Raises ``UnvalidatedError``."""
        if question.allowed_tools == ():
            return ()
        key = (served.number, f"{provider.name}/{question.model}/{provider.format_name}")
        until, notes = self._standing.get(key, (0.0, ()))
        if until < time.monotonic():
            host = RequestHost(session.host, session.host.principal)
            standing = Standing(lambda: replace(served.session, host=host))
            await standing.heed(question, provider)
            notes = tuple(host.notes)
            self._standing[key] = (time.monotonic() + _BADGE_SECONDS, notes)
        return notes


def preset_of(choice: Choice, principal: str, host: RequestHost) -> Preset | None:
    """The preset that a request names. Raises ``RequestFault`` where there is none of that name."""
    name = choice.preset or choice.bare
    if not name:
        return None
    try:
        preset = PresetStore(principal).get(name)
    except UsageError as error:
        why = f"The model {name[:200]!r} does not exist: write PROVIDER/MODEL, auto, best or a preset's name"
        told = error.message if choice.preset else f"{why} ({error.message})"
        raise RequestFault(told, status=404, code="model_not_found", param="model") from None
    if CALCULATOR in preset.enabled_tools and len(preset.enabled_tools) > 1:
        host.note(f"the preset's {CALCULATOR} is offered where a server has it")
    return preset


def _prices(served: Served) -> Callable[[Provider, str], Pricing]:
    own = served.session.config.providers

    def price(provider: Provider, model: str) -> Pricing:
        return Pricing(provider.name, model, own=provider.name in own)

    return price


async def asked_model(
    served: Served,
    text: str,
    choice: Choice,
    preset: Preset | None,
    conversation: Conversation,
    caller: Caller,
) -> tuple[Question, Provider]:
    """The question ``text`` by the routes, or by the model that is named, and its provider. This is the one
    place where a request's provider is found."""
    asker, session = served.asker, served.session
    if choice.routed:
        profile = {"service": choice.service} if choice.service else {}
        return await asker.routed(text, QuestionOptions(), profile=profile, conversation=conversation)
    named = choice.model or (preset.model if preset else "") or await session.host.standing_model()
    named = await asker.best_models.named(named)
    caller.check_model(choice, "/".join(split_model(named, own_providers(session.config))))
    provider, model = await asker.find(named)
    way = unmatched(session.config, workspace=session.choice.workspace is not None)
    question = replace(way.question(text, model), hooks=asker.hooks)
    if preset is None:
        return question, provider
    there = {tool.name for tool in session.toolbox.tools}
    enabled = tuple(name for name in preset.enabled_tools if name != CALCULATOR or name in there)
    own = replace(preset, enabled_tools=enabled).question(text, model, session.toolbox.tools)
    question = replace(question, allowed_tools=own.allowed_tools, builtins=own.builtins)
    return replace(question, system=own.system, reasoning=own.reasoning), provider


def listed_models(app: App) -> Models:
    """Lists ``best``, ``auto``, the presets of who asks, and the models of the providers that can be used."""

    async def models(request: Request) -> Sequence[ListedModel]:
        from ....providers.usable import usable_providers

        caller = caller_of(request)
        principal = caller.principal
        presets = PresetStore(principal).all()
        found = [ListedModel("best", "The cheapest validated model"), ListedModel("auto", "By the routes")]
        found += [ListedModel(f"preset/{preset.name}", preset.name) for preset in presets]
        async with app.using(principal) as served:
            usable = await anyio.to_thread.run_sync(usable_providers)
            for listing in await served.asker.lister.listed([*usable, *own_providers(served.session.config)]):
                found += [
                    ListedModel(f"{listing.provider}/{model.model}", model.model, listing.provider)
                    for model in listing.models
                ]
        return [model for model in found if caller.allows_listed(model.id)]

    return models


def caller_of(request: Request) -> Caller:
    """Who makes ``request``, as the guard let it in."""
    from ...app.resources import principal_of
    from ...keys.gate import key_of

    return Caller(principal_of(request.scope), key_of(request.scope))
