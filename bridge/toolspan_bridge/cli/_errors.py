"""From an exception to words on stderr and an exit code."""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import asdict
from typing import Any

import click

from toolspan_server.config import ConfigError

from ..errors import BridgeError

EXIT_INTERRUPTED = 130


def exit_code(error: BaseException) -> int:
    """The exit code of ``error`` (DESIGN: 0 ok, 1 unexpected, 2 usage or bad config, 3 auth …)."""
    if isinstance(error, BridgeError | click.ClickException):
        return error.exit_code
    return 2 if isinstance(error, ConfigError) else 1


def report(error: Exception, *, as_json: bool) -> None:
    """Say ``error`` on stderr: one line of JSON, or words; a bug comes with its traceback."""
    if as_json:
        print(json.dumps({"error": _described(error)}), file=sys.stderr)  # noqa: T201 - the CLI's own voice
    elif isinstance(error, click.ClickException):
        error.show()
    elif isinstance(error, ConfigError):
        print(error, file=sys.stderr)  # noqa: T201 - the CLI's own voice
    elif isinstance(error, BridgeError):
        print(f"toolspan: {error}", file=sys.stderr)  # noqa: T201 - the CLI's own voice
    else:
        traceback.print_exception(error)


def _described(error: Exception) -> dict[str, Any]:
    if isinstance(error, ConfigError):
        problems = [asdict(problem) for problem in error.problems]
        return {"code": "bad_config", "message": str(error), "problems": problems}
    if isinstance(error, BridgeError):
        return {"code": error.code, "message": error.message}
    if isinstance(error, click.ClickException):
        return {"code": "usage", "message": error.format_message()}
    return {"code": "unexpected", "message": f"{type(error).__name__}: {error}"}
