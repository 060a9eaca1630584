"""The group of verbs, and their common error handling."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import click

from toolspan_server.common.garbage_collector import skipped_at_exit

from . import verbs
from .module_group import ModuleGroup
from .terminal.errors import EXIT_INTERRUPTED, exit_code, report
from .terminal.output import print_message, wants_json
from .terminal.program import COMPLETION_VARIABLE, usage_name


@click.command(
    cls=ModuleGroup,
    package=verbs.__name__,
    example='toolspan ask "What is 17% of 2340?"',
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="toolspan", prog_name="toolspan")
def toolspan() -> None:
    """Tools from one file: served over MCP, called by any model, validated.

    Exit codes: 0 ok, 1 unexpected, 2 usage or bad config, 3 auth needed, 4 unreachable, 5 tool error
    or no tool, 6 validation below its threshold, 7 lint found a loss, 8 an answer does not fit its schema,
    9 a limit ended a question, 130 interrupted.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``toolspan`` on ``argv`` (the process's own arguments by default) and give the exit code."""
    if argv is None:
        skipped_at_exit()
    if cast("Any", sys.stdin) is None:
        # As shells close it (<&-): it has nothing, as /dev/null has.
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 (open as long as the process)
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = wants_json(arguments)
    if COMPLETION_VARIABLE in os.environ:
        from .inputs.bash_completion import complete_in_bash_so

        complete_in_bash_so()
    try:
        result = toolspan.main(arguments, prog_name=usage_name(), standalone_mode=False)
    except (KeyboardInterrupt, click.Abort):
        print_message("interrupted", err=True)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (`toolspan tools list | head`): nobody reads the error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        report(error, as_json=as_json)
        return exit_code(error)
    return result if isinstance(result, int) else 0
