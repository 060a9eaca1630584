"""A provider's error as an exception, with what a person can do about it."""

from __future__ import annotations

from ...errors import ContextOverflowError, ProviderError
from ...formats import WireError

_ACTIONS = {
    "changed_prefix": "what came before this message was changed: start a new conversation",
    "content": "a filter of the provider blocks it: ask otherwise, or another provider",
    "credit": "the account there has no credit: top it up, or ask another provider",
    "message_order": "it does not take this history: start a new conversation, or ask another provider",
}
_ONE_FORMAT = frozenset({"openai-chat", "openai-responses"})
"""OpenAI, in one of its formats whatever the model takes."""


def refusal(error: WireError, message: str, status: int, todo: str) -> ProviderError:
    """The exception for ``error``, told as ``message`` and ``todo``."""
    message = f"{message} ({todo})" if todo else message
    if error.fault == "context_overflow":
        return ContextOverflowError(
            message,
            status=status,
            kind=error.kind,
            counted_tokens=error.counted_tokens,
            maximum_tokens=error.maximum_tokens,
            answer_tokens=error.answer_tokens,
        )
    return ProviderError(
        message,
        status=status,
        kind=error.kind,
        tool=error.tool,
        fault=error.fault,
        parameter=error.parameter,
        retryable=error.retryable,
        retry_after=error.retry_after,
        limits=error.limits,
    )


def advice(error: WireError, provider: str, model: str, *, prompted: bool) -> str:
    """What to do, as the end of a sentence; ``""`` where there is no more to say than the error does."""
    if error.fault == "context_overflow":
        return "start a new conversation, ask for less, or choose a model with a larger context"
    if error.fault == "wrong_wire" and provider in _ONE_FORMAT:
        return f"ask for openai/{model}, which is asked in the format that the model takes"
    if error.fault == "no_tools" and not prompted:
        described = f"describe the tools in the prompt with --model prompt:{provider}/{model}"
        return f"{_start(error.message)}{described}"
    return _ACTIONS.get(error.fault, "")


def lengths(error: WireError) -> str:
    """The counted tokens and the maximum, as far as they are known."""
    if error.counted_tokens is not None and error.maximum_tokens is not None and error.answer_tokens:
        both = f"{error.counted_tokens:,} tokens and {error.answer_tokens:,} of the answer"
        return f" ({both}, at most {error.maximum_tokens:,})"
    if error.counted_tokens is not None and error.maximum_tokens is not None:
        return f" ({error.counted_tokens:,} tokens, at most {error.maximum_tokens:,})"
    return f" (at most {error.maximum_tokens:,} tokens)" if error.maximum_tokens is not None else ""


def _start(message: str) -> str:
    """How a server on the user's own machine is started so that it takes tools."""
    if "--tool-call-parser" in message:
        return "start the server with --enable-auto-tool-choice and the --tool-call-parser of its model, or "
    return "start the server with --jinja, or " if "--jinja" in message else ""
