"""``toolspan serve``: serve a config's tools over MCP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem
from typing_extensions import override

from toolspan_server.cli.options import EXAMPLE

from ..inputs import completed
from ..module_group import Verb

if TYPE_CHECKING:
    from toolspan_server.config import UntrustedItem


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
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, shell_complete=completed.files)
@click.pass_context
def command(context: click.Context, arguments: tuple[str, ...]) -> int:
    """Serve a config's tools over MCP, on stdio or HTTP. Its options are ``toolspan-server``'s."""
    from toolspan_server.cli.main import main

    return main(list(arguments), prog=context.command_path, consent=_consent)


def _consent(found: Sequence[UntrustedItem], may_ask: bool) -> bool:
    from ..inputs.options import ConfigChoice

    return ConfigChoice().is_trusted(found, ask=may_ask)
