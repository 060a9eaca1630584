"""``toolspan serve``: serve a config's tools over MCP."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem
from typing_extensions import override

from toolspan_server.cli.options import EXAMPLE

from ...errors import UsageError
from ..host import TERMINAL
from ..inputs import completed
from ..module_group import Verb
from ..terminal.output import emit_text

if TYPE_CHECKING:
    from toolspan_server.config import UntrustedItem


_REPLAY_HELP = """\
  --replay FILE         serve the tools of FILE, which `toolspan validate --record` wrote, in the place of a
                        config's: each call gets the recorded result, other arguments an error that names
                        the nearest recorded ones"""


class _Serve(Verb):
    @override
    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from toolspan_server.cli.command_line import option_names

        if incomplete.startswith("-"):
            return [CompletionItem(name) for name in option_names() if name.startswith(incomplete)]
        return super().shell_complete(ctx, incomplete)


@click.command(
    name="serve",
    cls=_Serve,
    example=f"toolspan serve {EXAMPLE}",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
)
@click.option("--replay", "recording", type=click.Path(path_type=Path), shell_complete=completed.files)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, shell_complete=completed.files)
@click.pass_context
def command(context: click.Context, recording: Path | None, arguments: tuple[str, ...]) -> int:
    """Serve a config's tools over MCP, on stdio or HTTP. Its options are ``toolspan-server``'s, and --replay
    FILE serves the tools of a recording in the place of a config's, with the recorded results."""
    from toolspan_server.cli.main import main

    serve = partial(main, prog=context.command_path, consent=_consent)
    if recording is None:
        code = serve(list(arguments))
        if code == 0 and {"-h", "--help"}.intersection(arguments):
            emit_text(_REPLAY_HELP)
        return code
    if own := [
        name for name in arguments if name.split("=")[0] in ("-c", "--config", "--workspace", "--pinned")
    ]:
        raise UsageError(f"--replay serves the tools of the recording alone: leave out {own[0]}")
    from ..recorded_mocks import served_recording

    with served_recording(recording) as config:
        return serve(["--config", str(config), *arguments])


def _consent(found: Sequence[UntrustedItem], may_ask: bool) -> bool:
    from ...sessions.chosen.config import ConfigChoice

    return ConfigChoice().is_trusted(found, TERMINAL, ask=may_ask)
