"""``toolspan completion``: print what has a shell complete commands by Tab."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ..inputs.bash_completion import complete_in_bash_so
from ..module_group import Verb
from ..terminal.output import emit_text
from ..terminal.program import COMPLETION_VARIABLE


@click.command(name="completion", cls=Verb, example="toolspan completion bash")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script by which SHELL completes verbs, options, files, and the names of tools, models,
    presets, conversations and servers. Nothing is started or asked for it: the tools of servers are those in
    toolspan.lock.

    \b
    bash  eval "$(toolspan completion bash)"             in ~/.bashrc
    zsh   eval "$(toolspan completion zsh)"              in ~/.zshrc, after compinit
    fish  toolspan completion fish > ~/.config/fish/completions/toolspan.fish
    """
    complete_in_bash_so()
    found = get_completion_class(shell)
    if found is None:
        raise click.ClickException(f"no script for {shell}")
    program = click.get_current_context().find_root().command
    emit_text(found(program, {}, "toolspan", COMPLETION_VARIABLE).source())
