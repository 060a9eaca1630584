"""The classes of the commands: verbs, and groups of them in one module or in a module each."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import click
from typing_extensions import override

from toolspan_server.common.did_you_mean import nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["ModuleGroup", "SubcommandGroup", "Verb"]

_SAYS = re.compile(r'"""``[^`]+``: (.+?)(?:\.)?(?:"""|\n)')


class Verb(click.Command):
    """A verb, a subcommand or a group. Its help shows ``example``, a whole command line, after the usage."""

    def __init__(self, *args: Any, example: str, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.example = example

    @override
    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Example"):
            formatter.write(f"{'':{formatter.current_indent}}{self.example}\n")  # never broken: to be copied
        super().format_help_text(ctx, formatter)


class ModuleGroup(Verb, click.Group):
    """A group of commands, each a module of a package with its ``command``, imported when it is named.

    Finds a command by its name in ``package``, so that one does not import what another needs.

    Modules with an underscore are shared by several. What the list of commands says of each is the first line
    of its module's docstring, which is read without importing the module: ``toolspan VERB``: what it does.
    """

    def __init__(self, *args: Any, package: str, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self._package = package

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        found = (module.name for module in pkgutil.iter_modules(import_module(self._package).__path__))
        return sorted(name for name in found if not name.startswith("_"))

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = cast("click.Command", import_module(f"{self._package}.{cmd_name}").command)
        command.short_help = command.short_help or self._read(cmd_name) or None
        return command

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return _resolved(super().resolve_command, ctx, args, self.list_commands(ctx))

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, self.says(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    @override
    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        found = [CompletionItem(name, help=self.says(ctx, name)) for name in names]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def says(self, ctx: click.Context, name: str) -> str:
        """What the command ``name`` does, in a few words."""
        if read := self._read(name):
            return read
        command = self.get_command(ctx, name)
        return "" if command is None else command.get_short_help_str()

    def _read(self, name: str) -> str:
        spec = find_spec(f"{self._package}.{name}")
        read = getattr(spec.loader, "get_source", None) if spec is not None else None
        found = None if read is None else _SAYS.match(read(f"{self._package}.{name}") or "")
        return "" if found is None else f"{found[1][:1].upper()}{found[1][1:]}."


class SubcommandGroup(Verb, click.Group):
    """A group whose commands are in one module."""

    command_class = Verb

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return _resolved(super().resolve_command, ctx, args, self.list_commands(ctx))


_Resolve = Callable[[click.Context, list[str]], tuple[str | None, click.Command | None, list[str]]]


def _resolved(
    resolve: _Resolve, ctx: click.Context, args: list[str], known: Sequence[str]
) -> tuple[str | None, click.Command | None, list[str]]:
    """What ``resolve`` finds; a name that is not ``known`` is an error with the one that was meant."""
    if args and args[0] not in known and not args[0].startswith("-") and not ctx.resilient_parsing:
        raise click.UsageError(f"no such command {args[0]!r}: {nearest(args[0], known)}", ctx)
    return resolve(ctx, args)
