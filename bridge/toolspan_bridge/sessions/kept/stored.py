"""Where the conversations of a config are, and how many are kept."""

from __future__ import annotations

import time

from toolspan_server.config import Config, ConversationsConfig

from ...conversation.prune import Kept, prune
from ...conversation.store import FOLDER, ConversationStore
from ...errors import BridgeError, StoreError
from ...files.user_state import user_state_directory
from ..chosen.config import ConfigChoice
from ..host import Host

STORED = ("state_dir", "conversations")
"""The keys of a config that say where its conversations are, and how many are kept."""


def settings_of(config: Config) -> ConversationsConfig:
    """The settings of ``config``, or the defaults."""
    return config.conversations or ConversationsConfig()


def store_of(config: Config, choice: ConfigChoice, host: Host) -> ConversationStore:
    """The conversations in the state folder of ``config``; those of the user where there is no config.

    Raises ``StoreError``.
    """
    if not config.files:
        try:
            state = user_state_directory()
        except OSError as fault:
            raise StoreError(f"the user's state folder cannot be made: {fault}") from None
    else:
        state = config.state_directory
    return ConversationStore(state / FOLDER, settings_of(config).max_bytes)


def kept_by(config: Config) -> Kept:
    """What ``config`` keeps of its conversations."""
    settings = settings_of(config)
    return Kept(settings.keep_days, settings.keep_bytes)


def prune_after(store: ConversationStore, kept: Kept, conversation: str, host: Host) -> None:
    """Remove what is not kept, save the ``conversation`` that was just saved, and tell ``host``."""
    now = time.time()
    if not kept.may_be_exceeded(store.folder, now):
        return
    try:
        removed = prune(store, kept, now, spare=conversation)
    except BridgeError as fault:
        host.note(f"{fault}")
        return
    if removed:
        host.note(
            f"{len(removed)} old conversation{'s were' if len(removed) > 1 else ' was'} removed "
            f"(conversations.keep_days is {kept.days}, keep_bytes {kept.total_bytes})"
        )
