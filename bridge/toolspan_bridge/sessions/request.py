"""The first request of a question, as ``ask`` would send it, and its model."""

from __future__ import annotations

import os
from dataclasses import replace

from ..errors import UsageError
from ..loop import DEFAULT_SYSTEM, first_request
from ..messages import Request
from ..providers import Provider, own_providers, resolve_model, split_model
from ..providers.settings.environment import keys_as_variables
from ..routes import Profile, Route
from .chosen.user_config import user_default_model
from .filled_route import filled_route
from .session import Session
from .standing import BestModels
from .warm_documents import WarmDocuments


async def way_of(session: Session, text: str, profile: Profile) -> Route:
    """The route of ``text``, with the system prompt that ``ask`` would give."""
    async with WarmDocuments(session.config) as documents:
        way = await filled_route(session, text, profile, documents)
    return replace(way, system=way.system or DEFAULT_SYSTEM)


async def model_of(model: str | None, way: Route, session: Session) -> str:
    """The model to show a request for. Raises ``UsageError`` when none is given anywhere, and as
    ``BestModels.named``."""
    chosen = model or os.environ.get("TOOLSPAN_MODEL") or way.model or user_default_model()
    if not chosen:
        raise UsageError("a request is for a model: name it with --model PROVIDER/MODEL")

    async def find(named: str) -> tuple[Provider, str]:
        with keys_as_variables(()):
            return resolve_model(named, own=own_providers(session.config))

    return await BestModels(lambda: session, find).named(chosen)


def is_full(model: str, session: Session) -> bool:
    """Whether ``model`` is written ``provider/model`` with a known provider."""
    try:
        split_model(model, own_providers(session.config))
    except UsageError:
        return False
    return True


def asked_request(
    session: Session, text: str, way: Route, model: str, format_name: str, *, stream: bool
) -> Request:
    """The first request of a conversation; ``model`` may be written ``provider/model``."""
    searches = True
    if is_full(model, session):
        from ..providers.preview import searches_tools

        searches = searches_tools(model, own_providers(session.config))
        model = split_model(model, own_providers(session.config))[1]
    question = replace(way.question(text, model), stream=stream)
    return first_request(question, format_name, session.toolbox.tools, searches_tools=searches)
