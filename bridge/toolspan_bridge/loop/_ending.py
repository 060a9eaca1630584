"""How an answer ended, and the message about it."""

from __future__ import annotations

from ..events import Ending
from ..formats.prompt.parse import INVENTED
from ..formats.shared.json_values import objects, snippet, text
from ..messages import Json, Reply
from .limits.limits import LimitReached

LIMIT_REACHED = "I reached the maximum number of tool calls. Please try rephrasing your request."
MAX_PAUSES = 8
"""How often in a run a paused turn is sent back to be continued."""

_THOUGHTS = ("reasoning", "redacted_thinking", "thinking", "thought")
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
    if reply.stop in ("length", "context"):
        return "length", _cut_off(reply, text)
    if reply.trouble == INVENTED:
        return (
            "malformed",
            "The model wrote the results of its calls itself: what it made of them is no answer.",
        )
    if reply.stop in ("refusal", "malformed", "error") or (reply.stop == "pause" and not reply.message.calls):
        return reply.stop, f"{_REASONS[reply.stop]}{_why(reply)}"
    if reached is not None:
        return ending_at(reached, text)
    return ("end", "") if text.strip() else ("empty", _empty(reply))


def ending_at(reached: LimitReached, text: str) -> tuple[Ending, str]:
    """How the run ends that ``reached`` a limit, with ``text`` as its answer."""
    if reached.name in ("iterations", "repeats"):
        return "end" if text else "limit", reached.text
    return "limit", reached.text


def instead_of_words(reached: LimitReached) -> str:
    """What stands for an answer where the limit that was ``reached`` left none."""
    return LIMIT_REACHED if reached.name in ("iterations", "repeats") else reached.what


def _why(reply: Reply) -> str:
    """What the provider said about it: its word, or what is wrong with its calls."""
    if reply.trouble:
        return f" {reply.trouble[:1].upper()}{reply.trouble[1:].rstrip('.')}."
    return f" Its word for that is {snippet(reply.finish, 60)!r}." if reply.finish else ""


def _empty(reply: Reply) -> str:
    """Which of the answers without a word it is, and what to do."""
    usage = reply.usage
    if reply.message.text:
        return "The model gave an empty answer: only blanks."
    if reply.only_thought or usage.reasoning_tokens or _has_thoughts(reply.message.opaque):
        return "The model gave an empty answer: it only thought. Ask again, or with less reasoning."
    if count := usage.output_tokens:
        return f"The model gave an empty answer: its {count:,} tokens were no words."
    return "The model gave an empty answer: it ended before its first word."


def _has_thoughts(state: Json) -> bool:
    """Whether a provider's state of a turn holds reasoning, by the names that all of them have for it."""
    parts = objects(state if isinstance(state, list) else [state])
    named = (name for part in parts for name in (*part, text(part.get("type"))))
    return any(name.startswith(_THOUGHTS) for name in named)


def _cut_off(reply: Reply, text: str) -> str:
    if reply.stop == "context":
        return "The answer was cut off, as the model's context is full: ask for less, or begin anew."
    if reply.cut_calls:
        return f"The answer was cut off within a call of {reply.cut_calls[-1].name}: raise max_tokens."
    if not text:
        return "The model's answer was cut off before its first word: raise max_tokens."
    return "The answer was cut off: raise max_tokens."


def asking_again(reply: Reply) -> str:
    """The message about a turn that is of no use."""
    if reply.trouble == INVENTED:
        return f"What came is left out: {INVENTED}. It is asked again."
    if reply.stop == "malformed":
        why = f" ({reply.trouble})" if reply.trouble else ""
        return f"The model's turn has calls that cannot be read{why}: it is asked again."
    return f"The turn broke off and is asked for again: {reply.trouble or reply.finish}"
