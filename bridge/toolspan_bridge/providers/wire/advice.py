"""What a person can do about a provider's error, by what it is about."""

from __future__ import annotations

from ...formats import WireError

_ACTIONS = {
    "changed_prefix": "what came before this message was changed: start a new conversation",
    "message_order": "it does not take this history: start a new conversation, or ask another provider",
}


def advice(error: WireError, provider: str, model: str, *, prompted: bool) -> str:
    """What to do, as the end of a sentence; ``""`` where there is no more to say than the error does."""
    if error.fault == "context_overflow":
        return "start a new conversation, ask for less, or choose a model with a larger context"
    if error.fault == "no_tools" and not prompted:
        described = f"describe the tools in the prompt with --model prompt:{provider}/{model}"
        return f"{_start(error.message)}{described}"
    return _ACTIONS.get(error.fault, "")


def lengths(error: WireError) -> str:
    """The counted tokens and the maximum, as far as they are known."""
    if error.counted_tokens is not None and error.maximum_tokens is not None:
        return f" ({error.counted_tokens:,} tokens, at most {error.maximum_tokens:,})"
    return f" (at most {error.maximum_tokens:,} tokens)" if error.maximum_tokens is not None else ""


def _start(message: str) -> str:
    """How a server on the user's own machine is started so that it takes tools."""
    if "--tool-call-parser" in message:
        return "start the server with --enable-auto-tool-choice and the --tool-call-parser of its model, or "
    return "start the server with --jinja, or " if "--jinja" in message else ""
