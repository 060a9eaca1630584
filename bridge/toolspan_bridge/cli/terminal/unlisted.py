"""What is said of providers that list no models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...providers.listing import ModelListing


def unlisted_notes(listed: Sequence[ModelListing], *, in_full: bool) -> Iterator[str]:
    """A note for each provider without a list, with the reason; unless ``in_full``, one for all that lack a
    setting, with the variable of each, and one for all servers of this machine that do not run."""
    unset = [] if in_full else [each for each in listed if each.error and each.error.variables]
    stopped = [] if in_full else [each for each in listed if each.start]
    for each in listed:
        if each in unset or each in stopped:
            continue
        if each.error:
            yield f"{each.provider}: {each.error.message.removeprefix(f'{each.provider} ')}"
        elif not each.models:
            yield f"{each.provider}: it has no models"
    if unset:
        found = [(each.error.variables[0], each.provider) for each in unset if each.error]
        yield f"without a key or setting: {_grouped(found)}"
    if stopped:
        started = [(f"`{each.start}`", each.provider) for each in stopped]
        yield f"not running on this machine: {_grouped(started)}"
    if unset or stopped:
        yield "`toolspan models --provider NAME` says of one what it needs and where to get it"


def _grouped(pairs: Sequence[tuple[str, str]]) -> str:
    """``a (X); b, c (Y)`` for providers with what they need."""
    groups = groupby(sorted(pairs), key=itemgetter(0))
    named = {need: [provider for _, provider in group] for need, group in groups}
    ordered = sorted(named.items(), key=itemgetter(1))
    return "; ".join(f"{', '.join(providers)} ({need})" for need, providers in ordered)
