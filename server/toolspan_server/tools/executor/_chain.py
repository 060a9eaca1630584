"""The steps around a kind. Each is one idea, wraps the next, and is composed once per tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .step import Step

if TYPE_CHECKING:
    from ...calls.slots import CallSlot
    from ..registry import Tool
    from ._shares import Shares
    from .steps.rate_limit import Buckets


def composed(
    tool: Tool,
    max_result_bytes: int,
    answer_seconds: float,
    redact: Callable[[str], str] | None,
    buckets: Buckets,
    shares: Shares,
    place: Callable[[], CallSlot],
) -> Step:
    """The whole of a call of ``tool``; a step that the tool does not ask for is not there, nor imported."""
    from .steps.sanitise import sanitised
    from .steps.timeout import timed_out
    from .steps.validate import validated

    config = tool.config
    step: Step = tool.kind.call
    if taken := shares.of(config.implementation):
        from .steps.share import sharing

        step = sharing(step, taken, place, tool.timeout_ms)
    step = sanitised(step, max_result_bytes, redact)
    if config.output_schema is not None:
        from .steps.output import fitting

        step = fitting(step, config.output_schema)
    if config.rate_limit is not None:
        from .steps.rate_limit import bucket_of, rate_limited

        step = rate_limited(step, config.rate_limit, bucket_of(buckets, tool.name, config.rate_limit))
    if config.cache is not None:
        from .steps.cache import cached

        step = cached(step, config.cache, talks=tool.kind.talks)
    step = timed_out(step, tool.timeout_ms, answer_seconds, redact)
    if config.approval is not None:
        from .steps.approve import approved, digest

        title = config.title or config.display_name or tool.name
        step = approved(step, config.approval, title, digest(config))
    return validated(step, tool.parameters)
