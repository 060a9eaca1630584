"""The group of verbs, and their common error handling."""

from __future__ import annotations

import os
import pkgutil
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import cast

import click
from typing_extensions import override

from toolspan_server.common.garbage_collector import skipped_at_exit

from . import verbs
from .terminal.errors import EXIT_INTERRUPTED, exit_code, report
from .terminal.output import print_message, wants_json


class _Verbs(click.Group):
    """Finds a verb's module by its name, so that ``toolspan tools`` does not import what ``chat`` needs."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(module.name for module in pkgutil.iter_modules(verbs.__path__))

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        return cast("click.Command", import_module(f"{verbs.__name__}.{cmd_name}").command)


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="toolspan", prog_name="toolspan")
def toolspan() -> None:
    """Tools from one file: served over MCP, called by any model, validated.

    Exit codes: 0 ok, 1 unexpected, 2 usage or bad config, 3 auth needed, 4 unreachable, 5 tool error,
    6 validation below its threshold, 7 lint found a loss, 8 an answer does not fit its schema,
    130 interrupted.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``toolspan`` on ``argv`` (the process's own arguments by default) and give the exit code."""
    if argv is None:
        skipped_at_exit()
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = wants_json(arguments)
    try:
        result = toolspan.main(arguments, prog_name="toolspan", standalone_mode=False)
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
