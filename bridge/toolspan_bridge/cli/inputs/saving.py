"""The options about conversations that are saved as they happen."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from ...errors import UsageError
from ...sessions.chosen.saving import SavingChoice
from . import completed


def saving_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--no-save``, ``--continue``, ``--conversation`` and ``--fork``, given to ``function`` as
    ``saving``."""

    @wraps(function)
    def chosen(
        *args: Any, no_save: bool, latest: bool, conversation: str | None, fork: bool, **options: Any
    ) -> Any:
        if latest and conversation is not None:
            raise UsageError("--continue and --conversation name two conversations: write one of them")
        name = _latest() if latest else conversation
        if fork and name is None and options.get("resume") is None:
            raise UsageError("--fork copies a conversation: name it by --continue or --conversation ID")
        return function(*args, saving=SavingChoice(not no_save, name, fork), **options)

    for option in (_fork, _conversation, _continue, _no_save):
        chosen = option(chosen)
    return chosen


def _latest() -> str:
    from ...conversation.store import LATEST

    return LATEST


_no_save = click.option("--no-save", is_flag=True, help="Keep nothing of this conversation on disk.")
_continue = click.option(
    "--continue", "latest", is_flag=True, help="Go on with the conversation that was gone on with last."
)
_conversation = click.option(
    "--conversation",
    metavar="ID",
    shell_complete=completed.conversations,
    help="Go on with this saved conversation; the beginning of its id is enough. See `toolspan "
    "conversations list`.",
)
_fork = click.option(
    "--fork", is_flag=True, help="Go on with a copy of that conversation, which stays as it is."
)
