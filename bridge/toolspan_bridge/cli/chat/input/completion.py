"""What Tab completes in a chat: commands and their words, files, prompts and resources of servers."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable

import anyio
import anyio.to_thread
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from typing_extensions import override

from toolspan_server.common.visible import visible_line

from ....errors import BridgeError
from ....sessions.approving import files_base
from ....sessions.named.mentions import names_prompt
from ..chat import Chat
from ..commands import command_names, find_command
from .file_words import file_words
from .server_words import ServerWords

__all__ = ["ChatCompleter"]

_PATIENCE_SECONDS = 2.0
_MOST = 200


class ChatCompleter(Completer):
    """Completes ``/command WORD…``, ``/server:prompt ARG…``, ``@server:uri`` and ``@file``. A server that is
    slow or fails proposes nothing."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._servers = ServerWords(lambda: chat.asker.session.toolbox.contents)

    @override
    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        return ()

    @override
    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Everything that could stand at the cursor."""
        text = document.text_before_cursor
        word = _word(text)
        found: Iterable[str] = ()
        try:
            with anyio.move_on_after(_PATIENCE_SECONDS):
                found = await self._found(text, word)
        except BridgeError:
            return
        for each in list(dict.fromkeys(found))[:_MOST]:
            if _continues(word, each) and each.isprintable():
                yield Completion(each, -len(word), visible_line(each))

    async def _found(self, text: str, word: str) -> Iterable[str]:
        if word.startswith("@"):
            base = files_base(self._chat.asker.session)
            files = await anyio.to_thread.run_sync(file_words, base, word, _MOST)
            return [*await self._servers.resources(word[1:]), *files]
        if not text.startswith("/"):
            return ()
        if " " not in text:
            prompts = await self._servers.prompts(text[1:])
            return [*(f"/{name}" for name in command_names()), *prompts]
        if names_prompt(text, self._chat.asker.session.toolbox):
            return await self._servers.arguments(text, word)
        return await self._words(text, word)

    async def _words(self, text: str, word: str) -> Iterable[str]:
        """What may follow the command of ``text`` in the place of ``word``."""
        name, *before = text[1 : len(text) - len(word)].split()
        command = find_command(name)
        return () if command.words is None else await command.words(self._chat, tuple(before), word)


def _continues(word: str, whole: str) -> bool:
    """Whether ``whole`` begins with ``word``; the quotes of a file's name may come later."""
    if word.startswith("@"):
        return whole.replace('"', "").startswith(word.replace('"', ""))
    return whole.startswith(word)


def _word(text: str) -> str:
    """The begun word: what follows the last blank, or an open ``@"``."""
    quoted = text.rfind('@"')
    if quoted >= 0 and '"' not in text[quoted + 2 :]:
        return text[quoted:]
    return re.split(r"[ \n]", text)[-1]
