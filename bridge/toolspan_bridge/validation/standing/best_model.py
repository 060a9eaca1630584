"""``best``: the cheapest model that is validated with the tools."""

from __future__ import annotations

from dataclasses import dataclass

from toolspan_server.config import Config

from ...errors import UsageError
from ...providers.prices import usd_text
from ...providers.resolve import bare_model, own_providers
from ..badges import Badge
from .cost import usd_per_success
from .standings import ModeRecord, Standings

__all__ = ["Candidate", "candidates_of"]

_NOT_MODELS = ("offline", "scripted")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model in the mode in which it was tried: ``name`` is how it is named to be asked so. ``usd`` is what
    a success costs in US dollars, ``None`` where that is not known, or it is not validated."""

    name: str
    provider: str
    model: str
    badge: Badge
    usd: float | None = None

    @property
    def text(self) -> str:
        """As in ``openai/x: validated (n=40, 95 %, 83–99 %), $0.0012 a success``."""
        cost = f", {usd_text(self.usd)} a success" if self.badge.status == "validated" else ""
        return f"{self.name.removeprefix('native:')}: {self.badge.text}{cost}"

    @property
    def rank(self) -> tuple[bool, bool, float, float, str]:
        """The least is the best: language models before the others, then those whose cost is known, then by
        cost, by rate, and by name."""
        unknown = self.usd is None
        return self.provider in _NOT_MODELS, unknown, self.usd or 0.0, -self.badge.counts.rate, self.name


def candidates_of(standings: Standings, config: Config, provider: str = "") -> list[Candidate]:
    """Every model that was ever tried, or those of ``provider``, in each mode that it was tried in: the
    validated ones first, the best one of them first.

    Raises ``StoreError`` where the store cannot be read.
    """
    found = [
        candidate
        for named, standing in standings.every().items()
        if not provider or named[0] == provider
        for speaks in standing.modes
        if (candidate := _candidate(config, named, speaks, standings))
    ]
    return sorted(found, key=lambda each: (each.badge.status != "validated", each.rank))


def _candidate(
    config: Config, named: tuple[str, str], speaks: ModeRecord, standings: Standings
) -> Candidate | None:
    """``None`` where the config no longer has the provider."""
    try:
        bare = bare_model(speaks.record.model_id, own_providers(config))
    except UsageError:
        return None
    mode = speaks.mode or "native"
    name = f"{mode}.{speaks.wording}:{bare}" if speaks.wording else f"{mode}:{bare}"
    if speaks.badge.status != "validated":
        return Candidate(name, *named, speaks.badge)
    return Candidate(name, *named, speaks.badge, usd_per_success(config, *named, speaks.record))
