"""How an answer ended, and the message about it."""

from __future__ import annotations

from ..events import Ending
from ..messages import Reply
from .limits.limits import LimitReached

LIMIT_REACHED = "I reached the maximum number of tool calls. Please try rephrasing your request."
MAX_PAUSES = 8
"""How often in a run a paused turn is sent back to be continued."""

_REASONS: dict[str, str] = {
    "refusal": "The model refused to answer, or a filter of the provider blocked it.",
    "malformed": "The model's turn has calls that cannot be read; no call was made.",
    "error": "The provider ended the answer for a reason of its own: it is incomplete.",
    "pause": f"The model paused its answer more than {MAX_PAUSES} times; it was not asked to go on.",
}


def ending(reply: Reply, text: str, reached: LimitReached | None) -> tuple[Ending, str]:
    """How the run ends with ``reply``, and a sentence about anything unusual.

    ``text`` is the text of the answer. ``reached`` is the limit after which it was the last turn.
    """
    if reply.incomplete:
        cut = " A call in it was not made." if reply.cut_calls else ""
        return "incomplete", f"The answer broke off and is incomplete.{cut} {reply.trouble}".rstrip()
    if reply.stop == "length":
        return "length", _cut_off(reply, text)
    if reply.stop in ("refusal", "malformed", "error") or (reply.stop == "pause" and not reply.message.calls):
        why = f" {_sentence(reply.trouble)}" if reply.stop == "malformed" and reply.trouble else ""
        return reply.stop, f"{_REASONS[reply.stop]}{why}"
    if reached is not None:
        return ending_at(reached, text)
    return ("end", "") if text else ("empty", "The model gave an empty answer.")


def ending_at(reached: LimitReached, text: str) -> tuple[Ending, str]:
    """How the run ends that ``reached`` a limit, with ``text`` as its answer."""
    if reached.name in ("iterations", "repeats"):
        return "end" if text else "limit", reached.text
    return "limit", reached.text


def instead_of_words(reached: LimitReached) -> str:
    """What stands for an answer where the limit that was ``reached`` left none."""
    return LIMIT_REACHED if reached.name in ("iterations", "repeats") else reached.what


def _cut_off(reply: Reply, text: str) -> str:
    if reply.cut_calls:
        return f"The answer was cut off within a call of {reply.cut_calls[-1].name}: raise max_tokens."
    if not text:
        return "The model's answer was cut off before its first word: raise max_tokens."
    return "The answer was cut off: raise max_tokens."


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."


def asking_again(reply: Reply) -> str:
    """The message about a turn that is of no use."""
    if reply.stop == "malformed":
        why = f" ({reply.trouble})" if reply.trouble else ""
        return f"The model's turn has calls that cannot be read{why}: it is asked again."
    return f"The turn broke off and is asked for again: {reply.trouble}"
