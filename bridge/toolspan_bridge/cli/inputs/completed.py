"""What Tab completes in a shell: files, and names that are known without starting or asking anything.

Each function is a ``shell_complete`` of an option or an argument. What cannot be read completes nothing, and
names with characters that cannot be seen are left out: shells read a line for each name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from toolspan_server.errors import ConfigError

from ...errors import BridgeError
from ...principals import LOCAL_USER

if TYPE_CHECKING:
    from toolspan_server.config import Config

_Known = Callable[[click.Context], Iterable[tuple[str, str]]]
_Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_MOST = 200


def _completes(known: _Known) -> _Complete:
    """``known`` gives values, each with a word about it, as a ``shell_complete``."""

    @wraps(known)
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found: list[CompletionItem] = []
        with suppress(BridgeError, ConfigError, OSError):
            for value, text in known(ctx):
                if value.startswith(incomplete) and value.isprintable():
                    found.append(CompletionItem(value, help=_line(text)))
        return found[:_MOST]

    return complete


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, by the shell itself."""
    return [CompletionItem(incomplete, type="file")]


@_completes
def tools(ctx: click.Context) -> Iterator[tuple[str, str]]:
    """The tools of the config, and those of servers that are in its lock file."""
    from ...trust import LOCK_FILE, read_lock

    config = _config(ctx)
    own = {tool.name: tool.description for tool in config.tools.registry}
    yield from own.items()
    locked = read_lock(config.directory / LOCK_FILE) or {}
    yield from ((name, server) for server, names in locked.items() for name in names if name not in own)


@_completes
def models(ctx: click.Context) -> Iterator[tuple[str, str]]:
    """The models that routes and presets name, and the providers."""
    from ...presets import PresetStore
    from ...providers import DEFAULT_MODEL, provider_names

    config = _config(ctx)
    named = {f"{rule.llm}/{rule.model}": "a route's" for rule in config.responses if rule.llm and rule.model}
    named |= {
        each.model: f"of the preset {each.name}" for each in PresetStore(LOCAL_USER).all() if each.model
    }
    yield from {DEFAULT_MODEL: "no language model", **named}.items()
    yield from ((f"{name}/", "a provider") for name in provider_names(config.providers))


@_completes
def presets(ctx: click.Context) -> Iterator[tuple[str, str]]:
    """The user's presets."""
    from ...presets import PresetStore

    return ((each.name, each.model or each.instructions) for each in PresetStore(LOCAL_USER).all())


@_completes
def conversations(ctx: click.Context) -> Iterator[tuple[str, str]]:
    """The saved conversations, the latest first."""
    from toolspan_server.config import ConversationsConfig

    from ...conversation.store import FOLDER, ConversationStore
    from ...files.user_state import user_state_directory

    config = _config(ctx, restricted=True)
    state = config.state_directory if config.files else user_state_directory()
    settings = config.conversations or ConversationsConfig()
    entries = ConversationStore(state / FOLDER, settings.max_bytes).entries()
    return ((entry.head.id[:12], entry.head.title) for entry in entries)


@_completes
def error_codes(ctx: click.Context) -> Iterator[tuple[str, str]]:
    """The codes of errors."""
    del ctx
    from ..explained import entries

    return ((each.code, each.why) for each in entries())


@_completes
def servers(ctx: click.Context) -> Iterator[tuple[str, str]]:
    """The servers of the config."""
    return ((name, entry.url or entry.command or "") for name, entry in _config(ctx).mcp_servers.items())


def _config(ctx: click.Context, *, restricted: bool = False) -> Config:
    """The config, whole, for names alone; ``restricted`` where it is used and was found."""
    from toolspan_server.config import Config, find_config, load_config

    paths = _paths(ctx) or tuple(filter(None, (os.environ.get("TOOLSPAN_CONFIG"),)))
    found = find_config(Path.cwd())
    files = [Path(path) for path in paths] or ([found] if found else [])
    if not files:
        return Config()
    return load_config(*files, skip_invalid=True, import_handlers=False, restricted=restricted and not paths)


def _paths(ctx: click.Context) -> tuple[str, ...]:
    given: tuple[str | Path, ...] = ctx.params.get("config_paths") or ()
    return tuple(str(path) for path in given)


def _line(text: str) -> str:
    """The beginning of ``text``, without what would control the terminal."""
    from toolspan_server.common.visible import visible_line

    return visible_line(" ".join(text.split()))[:80]
