"""``/api/models/list``: the models of the providers, with how they stand in validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from pydantic import Field

from ...errors import UsageError
from ...providers import own_providers, provider_names
from ...validation import UNTESTED
from ...validation.standing import ModelStanding, Standings
from ..endpoint import Answer, Call, Endpoint, Values

if TYPE_CHECKING:
    from toolspan_server.config import Config

    from ...providers.listing import ModelListing
    from ...providers.wire.model_facts import ModelFacts
    from ...validation.badges import Badge


class ModelQuery(Values):
    """Which providers are asked."""

    provider: str | None = Field(None, max_length=200, description="Only this provider.")


class BadgeInfo(Answer):
    """What validation proves of a model: its rate of success, and the interval of 95 % that it lies in."""

    status: str
    text: str
    sign: str
    n: int
    rate: float
    low: float
    high: float


class ModelInfo(Answer):
    """A model."""

    id: str = Field(description="PROVIDER/MODEL, as every request names it.")
    name: str
    provider: str
    capabilities: list[str] = Field(description="function-calling, vision, reasoning: what is known of it.")
    context: int | None
    badge: BadgeInfo


class UnlistedProvider(Answer):
    """A provider that gave no list, and why."""

    provider: str
    detail: str
    code: str


class ModelList(Answer):
    """The models of every provider that gave a list."""

    models: list[ModelInfo]
    problems: list[UnlistedProvider]


async def listed(call: Call) -> ModelList:
    """The models of the providers, asked at the same time; a list is kept for a minute."""
    only = call.asked(ModelQuery).provider
    async with call.app.using(call.principal) as served:
        config = served.session.config
        found = await served.asker.lister.listed(_wanted(config, only))
        standings = await anyio.to_thread.run_sync(Standings(config).every)
    return ModelList(
        models=[
            _info(each, facts, standings.get((each.provider, facts.model)))
            for each in found
            for facts in each.models
        ],
        problems=_unlisted(found),
    )


def _wanted(config: Config, only: str | None) -> Sequence[str]:
    known = provider_names(own_providers(config))
    if only is None:
        return known
    if only.lower() not in known:
        raise UsageError(f"there is no provider {only!r} (providers: {', '.join(known)})")
    return [only.lower()]


def _unlisted(found: Sequence[ModelListing]) -> list[UnlistedProvider]:
    return [
        UnlistedProvider(provider=each.provider, detail=each.error.message, code=each.error.code)
        for each in found
        if each.error is not None
    ]


def _info(listing: ModelListing, facts: ModelFacts, standing: ModelStanding | None) -> ModelInfo:
    modes = standing.modes if standing is not None else ()
    badge = next((mode.badge for mode in modes if mode.mode != "prompt"), UNTESTED)
    can = {"function-calling": facts.tools, "vision": facts.vision, "reasoning": facts.thinking}
    return ModelInfo(
        id=f"{listing.provider}/{facts.model}",
        name=facts.model,
        provider=listing.provider,
        capabilities=[name for name, known in can.items() if known],
        context=facts.context,
        badge=badge_info(badge),
    )


def badge_info(badge: Badge) -> BadgeInfo:
    """The badge as the API has it."""
    low, high = badge.counts.interval if badge.counts.n else (0.0, 1.0)
    return BadgeInfo(
        status=badge.status,
        text=badge.text,
        sign=badge.sign,
        n=badge.counts.n,
        rate=round(badge.counts.rate, 6),
        low=round(low, 6),
        high=round(high, 6),
    )


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/models/list",
        "List the models of the providers, with their badges.",
        listed,
        "models",
        audience="shared",
        query=ModelQuery,
        answer=ModelList,
        problems=(503,),
    ),
)
