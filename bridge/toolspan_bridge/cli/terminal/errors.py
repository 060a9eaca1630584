"""Converts an exception to a message on stderr and an exit code."""

from __future__ import annotations

import io
import sys
from dataclasses import asdict
from typing import Any

import click

from toolspan_server.errors import ConfigError

from ...errors import BridgeError, ContextOverflowError, ProviderError
from .output import (
    emit_json_error,
    print_message,
    print_problem,
    print_text,
    print_traceback,
)
from .program import command_line

EXIT_INTERRUPTED = 130


def exit_code(error: BaseException) -> int:
    """The exit code of ``error`` (DESIGN: 0 ok, 1 unexpected, 2 usage or bad config, 3 auth …)."""
    if isinstance(error, BridgeError | click.ClickException):
        return error.exit_code
    return 2 if isinstance(error, ConfigError) else 1


def report(error: Exception, *, as_json: bool) -> None:
    """Print ``error`` on stderr: one line of JSON, or text; a bug with its traceback."""
    if as_json:
        emit_json_error({"error": _described(error)})
    elif isinstance(error, click.ClickException):
        shown = io.StringIO()
        error.show(shown)
        print_text(shown.getvalue().rstrip("\n"), err=True)
    elif isinstance(error, ConfigError):
        print_text(str(error), err=True)
    elif isinstance(error, BridgeError):
        print_problem(str(error))
    else:
        print_traceback(error)
    if not as_json and not isinstance(error, click.ClickException):
        point_to_entry(str(_described(error)["code"]))


def point_to_entry(code: str) -> None:
    """Say, where stderr is a terminal, which command explains errors of this ``code``."""
    if sys.stderr.isatty():
        print_message(f"more about it: {command_line('errors', code)}", err=True)


def _described(error: Exception) -> dict[str, Any]:
    if isinstance(error, ConfigError):
        problems = [asdict(problem) for problem in error.problems]
        return {"code": "bad_config", "message": str(error), "problems": problems}
    if isinstance(error, BridgeError):
        return {"code": error.code, "message": error.message} | _known(error)
    if isinstance(error, click.ClickException):
        return {"code": "usage", "message": error.format_message()}
    return {"code": "unexpected", "message": f"{type(error).__name__}: {error}"}


def _known(error: BridgeError) -> dict[str, Any]:
    """What a program can know of a provider's error: ``kind`` is what it is about."""
    if not isinstance(error, ProviderError):
        return {}
    known: dict[str, Any] = {"status": error.status, "parameter": error.parameter}
    if error.fault != "other":
        known["kind"] = error.fault
    if isinstance(error, ContextOverflowError):
        known |= {"counted_tokens": error.counted_tokens, "maximum_tokens": error.maximum_tokens}
    return {key: value for key, value in known.items() if value not in (None, "")}
