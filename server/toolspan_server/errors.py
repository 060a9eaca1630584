"""The server's errors.

    ToolspanError
    ├── ConfigError        the operator: the file is wrong; every problem at once
    ├── ServeError         the operator: the server cannot start (port taken, address refused)
    ├── ToolFailure        the model: a tool did not succeed; becomes a failed tool result
    │   ├── InvalidParameters
    │   ├── HandlerNotFound
    │   └── ToolTimeout
    ├── RequestRefused     the client: the request itself is refused, by a JSON-RPC error
    └── InputRequired      the client: the call needs its answers first (in ``client``)

A bug is none of these: it propagates with its traceback, or, inside a handler, is logged with it
and reaches the model as ``execution_error``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .problems import Problem

__all__ = [
    "ConfigError",
    "HandlerNotFound",
    "InvalidParameters",
    "RequestRefused",
    "ServeError",
    "ToolFailure",
    "ToolTimeout",
    "ToolspanError",
]


class ToolspanError(Exception):
    """Root of every error that the server raises on purpose."""


class ConfigError(ToolspanError):
    """A config file is wrong. ``problems`` holds every fault found, in file order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class ServeError(ToolspanError):
    """The server cannot start. The message says why and what to do."""


class ToolFailure(ToolspanError):
    """A tool did not succeed, in words for the model. Handlers may raise it.

    ``error`` becomes the result's ``error``; ``error_code`` a stable machine-readable word;
    ``user_action`` what the person may do about it. ``content`` are the content blocks to show
    instead of the error, when it came with some. ``upstream_status`` is the HTTP status of the answer that it
    comes from. ``detail`` is what else is known, for whoever runs the server: it may hold paths and the words
    of other programs, and follows the error only where clients may read that (``serving.error_details``).
    """

    error_code = "execution_error"
    user_action = "Check the arguments and try again; the server's log has the details."

    def __init__(
        self,
        error: str,
        *,
        error_code: str | None = None,
        user_action: str | None = None,
        content: tuple[Mapping[str, Any], ...] | None = None,
        upstream_status: int | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(f"{error}: {detail}" if detail else error)
        self.error = error
        self.detail = detail
        self.content = content
        self.upstream_status = upstream_status
        if error_code is not None:
            self.error_code = error_code
        if user_action is not None:
            self.user_action = user_action


class InvalidParameters(ToolFailure):
    """The arguments do not fit the tool's schema. ``faults`` lists each fault."""

    error_code = "invalid_parameters"
    user_action = "Correct the named parameters and call the tool again."

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("Invalid parameters: " + ", ".join(faults))
        self.faults = tuple(faults)


class HandlerNotFound(ToolFailure):
    """No handler of that name is registered for the kind (``builtin`` or ``internal``)."""

    error_code = "handler_not_found"
    user_action = "Install or register the handler, or correct implementation.handler in the config."

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"{kind.capitalize()} handler '{name}' not found")


class ToolTimeout(ToolFailure):
    """The tool took longer than its ``timeout_ms``."""

    error_code = "timeout"
    user_action = "Try a smaller request, or raise the tool's timeout_ms in the config."

    def __init__(self, timeout_ms: int) -> None:
        super().__init__(f"Tool execution timed out after {timeout_ms}ms")


class RequestRefused(ToolspanError):
    """The request itself is refused: a JSON-RPC error with ``code`` (an integer, JSON-RPC 2.0, section 5.1),
    ``message`` and perhaps ``data``, any JSON value."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
