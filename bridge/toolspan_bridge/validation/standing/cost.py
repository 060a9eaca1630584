"""What a model costs for each success, by what its trials cost or used."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from toolspan_server.config import Config

from ...providers.prices import price_of
from ...providers.usable import is_local
from ..evidence.records import Record

__all__ = ["usd_per_success"]

_PARTS_OF_PROGRAM = ("offline", "scripted")
_MILLION, _PICO = 10**6, 10**12


def usd_per_success(config: Config, provider: str, model: str, record: Record) -> float | None:
    """US dollars for each success of ``record``; the trials that failed are paid for, too.

    0 for a model of this machine: of a local provider, or of one of the config's own on loopback. Else the
    mean cost of the trials of which it is known; where it is of none, that of their tokens at the table's
    price of output, which is the most that it can be. ``None`` where that is not known either, or nothing
    succeeded.
    """
    if _is_on_this_machine(config, provider):
        return 0.0
    counts, figures = record.counts, record.figures
    if not counts.successes:
        return None
    if priced := counts.n - figures.unpriced:
        return figures.picodollars / _PICO / priced / counts.rate
    price = None if provider in config.providers else price_of(provider, model).output
    return (
        None if price is None or not figures.tokens else figures.tokens * price / _MILLION / counts.successes
    )


def _is_on_this_machine(config: Config, provider: str) -> bool:
    own = config.providers.get(provider)
    if own is None:
        return provider in _PARTS_OF_PROGRAM or is_local(provider)
    host = urlsplit(own.base_url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
