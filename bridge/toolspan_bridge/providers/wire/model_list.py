"""One provider's list of models, read page by page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ...errors import ProviderError, UsageError
from .model_facts import ModelFacts, ReadPage

MAX_MODELS = 5_000
_MAX_PAGES = 20


async def read_list(
    provider: str, no_list: str, read_page: ReadPage, page: Callable[[str], Awaitable[bytes]]
) -> tuple[ModelFacts, ...]:
    """The pages of a list as one: ``page`` fetches the one after the given mark. Models without a name and
    duplicates are dropped. Raises what ``page`` raises, and ``ProviderError`` when the answer is not a list.
    """
    if no_list:
        raise UsageError(f"{provider} has no list of models: {no_list}")
    found: dict[str, ModelFacts] = {}
    after = ""
    for _ in range(_MAX_PAGES):
        content = await page(after)
        try:
            read = read_page(content)
        except (ValueError, RecursionError) as error:
            raise ProviderError(f"{provider} sent no list of models: {error}") from None
        found.update((facts.model, facts) for facts in read.models if facts.model)
        after = read.after
        if not after or len(found) >= MAX_MODELS:
            break
    return tuple(found.values())[:MAX_MODELS]
