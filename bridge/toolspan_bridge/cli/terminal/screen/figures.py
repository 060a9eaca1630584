"""What an answer took, in a line."""

from __future__ import annotations

from ....conversation import Conversation
from ....events import Answer
from ....messages import Usage
from ....providers.prices import price_of, usd_text
from ....sessions.costs import CostMeter

__all__ = ["context_text", "figures"]


def figures(answer: Answer, last: Usage, meter: CostMeter, talk: Conversation | None) -> str:
    """``openai/gpt-4o · 1,234 in, 56 out · cost $0.0021 (conversation $0.0100) · context 12 % of 128,000``;
    what is not known is left out, and the line where nothing is. ``last`` is the usage of the last turn: what
    it read and wrote is in the model's context."""
    usage, parts = answer.usage, [f"{answer.provider}/{answer.model}"]
    if usage.input_tokens or usage.output_tokens:
        thought = f", {usage.reasoning_tokens:,} of them thought" if usage.reasoning_tokens else ""
        parts.append(f"{usage.input_tokens:,} in, {usage.output_tokens:,} out{thought}")
    if meter.may_be_known:
        whole = "" if talk is None else f" (conversation {usd_text(talk.usd)})"
        parts.append(f"cost {usd_text(meter.usd)}{whole}")
    if part := context_text(meter, last):
        parts.append(part)
    return " · ".join(parts) if len(parts) > 1 else ""


def context_text(meter: CostMeter, last: Usage) -> str:
    """``context 12 % of 128,000``; empty where it is not known."""
    most = None if meter.pricing.own else price_of(meter.pricing.provider, meter.pricing.name).context
    used = last.input_tokens + last.output_tokens
    return f"context {100 * used / most:.0f} % of {most:,}" if most and used else ""
