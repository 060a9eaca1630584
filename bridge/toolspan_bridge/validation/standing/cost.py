"""What a model costs for each success, by what its trials cost or used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Any, cast
from urllib.parse import urlsplit

from toolspan_server.config import Config

from ...providers.prices import price_of
from ...providers.usable import is_local
from ..evidence.records import Record
from ..storage.trial import Trial

__all__ = ["usd_per_success"]

_PARTS_OF_PROGRAM = ("offline", "scripted")


def usd_per_success(config: Config, provider: str, model: str, record: Record) -> float | None:
    """US dollars for each success of ``record``, which has its trials; those of failures are paid for, too.

    0 for a model of this machine: of a local provider, or of one of the config's own on loopback. Else the
    mean of the trials whose cost is known; where there is none, the mean of their tokens at the prices of the
    table. ``None`` where that is not known either, or nothing succeeded.
    """
    if _is_on_this_machine(config, provider):
        return 0.0
    rate, trials = record.evidence.counts.rate, record.evidence.measured
    if not rate:
        return None
    mean = _mean(trial.usd for trial in trials)
    if mean is None and provider not in config.providers:
        mean = _mean_by_table(provider, model, trials)
    return None if mean is None else mean / rate


def _is_on_this_machine(config: Config, provider: str) -> bool:
    own = config.providers.get(provider)
    if own is None:
        return provider in _PARTS_OF_PROGRAM or is_local(provider)
    host = urlsplit(own.base_url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _mean_by_table(provider: str, model: str, trials: Iterable[Trial]) -> float | None:
    price = price_of(provider, model)
    if price.input is None or price.output is None:
        return None
    used = [tokens for trial in trials if (tokens := _tokens(trial))]
    return _mean((into * price.input + out * price.output) / 1_000_000 for into, out in used)


def _tokens(trial: Trial) -> tuple[int, int] | None:
    """The tokens in and out; ``None`` where they are not known."""
    usage: Any = trial.details.get("usage")
    if not isinstance(usage, Mapping):
        return None
    told = cast("Mapping[str, Any]", usage)
    into, out = told.get("input_tokens"), told.get("output_tokens")
    return (into, out) if isinstance(into, int) and isinstance(out, int) and into + out > 0 else None


def _mean(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) / len(known) if known else None
