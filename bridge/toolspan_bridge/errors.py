"""The bridge's errors. Each carries the CLI's exit code, so that a caller need not know them one by one.

    BridgeError                1
    ├── UsageError             2   the call's words are off
    ├── ConsentError           2   what a folder brings would be run, and nobody allowed it
    ├── AuthError              3   a key is missing or refused, or a sign-in is
    ├── UnreachableError       4   no answer from an address
    ├── NoToolsError           5   the verb needs tools, and no server offers any
    ├── UnvalidatedError       6   the config refuses models that are not validated, and this one is not
    ├── ProviderError          1   the provider answered, with an error
    │   ├── ContextOverflowError  1   the request is longer than the model's context
    │   └── UnknownModelError  2   it has no such model
    └── StoreError             1   the validation store, a conversation, the presets … cannot be used
        └── BusyError          1   another process is writing it

A tool that fails is none of these: it is a tool result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

__all__ = [
    "AuthError",
    "BridgeError",
    "BusyError",
    "ConsentError",
    "ContextOverflowError",
    "Fault",
    "NoToolsError",
    "ProviderError",
    "StoreError",
    "UnknownModelError",
    "UnreachableError",
    "UnvalidatedError",
    "UsageError",
]


class BridgeError(Exception):
    """Root of every error that the bridge raises on purpose.

    ``message`` is for people, ``code`` stable and machine-readable; ``exit_code`` is the command line's.
    ``variables`` are the environment variables that are not set and would mend it, the best one first.
    """

    code = "error"
    exit_code = 1

    def __init__(self, message: str, *, variables: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.variables = variables


class UsageError(BridgeError):
    """The command or argument is wrong: the message says what to write instead."""

    code = "usage"
    exit_code = 2


class ConsentError(BridgeError):
    """Nobody allowed the code, the servers or the addresses that a found file brings. Nothing was run; the
    message names each, and how to allow it."""

    code = "consent"
    exit_code = 2


class AuthError(BridgeError):
    """A key is missing or was refused, and the message names the variable that holds it; or a sign-in is."""

    code = "auth"
    exit_code = 3


class UnreachableError(BridgeError):
    """Nothing answers at an address; the message names it. ``was_sent``: what was asked may have been done
    there, though nothing was heard of it; ``timed_out``: it was waited for in vain."""

    code = "unreachable"
    exit_code = 4

    def __init__(
        self,
        message: str,
        *,
        variables: tuple[str, ...] = (),
        was_sent: bool = True,
        timed_out: bool = False,
    ) -> None:
        super().__init__(message, variables=variables)
        self.was_sent = was_sent
        self.timed_out = timed_out


class NoToolsError(BridgeError):
    """No server offers a tool, and without one there is nothing to do; the message says why there is none."""

    code = "no_tools"
    exit_code = 5


class UnvalidatedError(BridgeError):
    """The config refuses models that are not validated with the tools; the message has the model's badge."""

    code = "unvalidated"
    exit_code = 6


Fault = Literal[
    "other",
    "tool",
    "generation",
    "context_overflow",
    "parameter",
    "no_tools",
    "message_order",
    "changed_prefix",
    "wrong_wire",
    "credit",
    "key",
    "content",
]
"""What a provider's error is about.

``tool``: one of the tools; ``generation``: the model wrote what the provider cannot read, and may not the
next time; ``context_overflow``: the request is longer than the model's context; ``parameter``: a setting that
the model does not take, such as ``temperature``; ``no_tools``: the server or the model takes no tools as it
is; ``message_order``: the order of the messages, or what of an earlier one has to come back;
``changed_prefix``: what came before was changed since the
model wrote its thoughts; ``wrong_wire``: the model wants another of the provider's APIs; ``credit``: the
account there has no credit; ``key``: the key, told with a status that does not say so; ``content``: a filter
of the provider blocks what is asked; ``other``: none of these, or not known.
"""


class ProviderError(BridgeError):
    """The provider answered with an error. ``status`` is HTTP's, ``kind`` the provider's own word.

    ``tool`` is the tool that it refuses, if it says which: a wire name, or its place among those sent.
    ``fault`` is what it is about, and ``parameter`` the setting that it does not take. ``retryable`` is
    whether the same request may be answered later, ``None`` where nobody knows; ``retry_after`` are the
    seconds that the provider asks to wait, if it does, and ``limits`` its headers about limits of rate.
    """

    code = "provider"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        kind: str = "",
        tool: str | int | None = None,
        fault: Fault = "other",
        parameter: str = "",
        retryable: bool | None = None,
        retry_after: float | None = None,
        limits: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after
        self.limits: Mapping[str, str] = limits or {}
        self.status = status
        self.kind = kind
        self.tool = tool
        self.fault: Fault = fault
        self.parameter = parameter


class ContextOverflowError(ProviderError):
    """The request is longer than the model's context: ``counted_tokens``, with ``answer_tokens`` that the
    answer may have where it is both together, are more than ``maximum_tokens``, each as far as the provider
    says it. Its ``fault`` is ``context_overflow``."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        kind: str = "",
        counted_tokens: int | None = None,
        maximum_tokens: int | None = None,
        answer_tokens: int | None = None,
    ) -> None:
        super().__init__(message, status=status, kind=kind, fault="context_overflow", retryable=False)
        self.counted_tokens = counted_tokens
        self.maximum_tokens = maximum_tokens
        self.answer_tokens = answer_tokens


class UnknownModelError(ProviderError):
    """The provider has no model of that name."""

    code = "unknown_model"
    exit_code = 2


class StoreError(BridgeError):
    """The validation store, or the file of a conversation or of presets, cannot be read or written; what it
    held is not lost."""

    code = "store"


class BusyError(StoreError):
    """Another process goes on with the conversation; the message says which, and what to do."""

    code = "busy"
