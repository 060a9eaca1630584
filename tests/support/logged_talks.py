"""Conversations logged in a folder while the loop runs, with a scripted model and a tool in this process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from toolspan_bridge import Conversation, Question, Toolbox, answer
from toolspan_bridge.conversation.journal import LogJournal
from toolspan_bridge.conversation.store import ConversationStore
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.toolbox.local import LocalCall
from toolspan_server.engines.upstreams import ListedTool

MAX_BYTES = 1_000_000


class OneTool:
    """A tool of the bridge's own that does ``work``."""

    definition = ListedTool("add", "Adds.", {"type": "object"})

    def __init__(self, work: Callable[[Mapping[str, Any]], Awaitable[Any]]) -> None:
        self._work = work

    async def call(self, call: LocalCall) -> Any:
        return await self._work(call.arguments)


async def added(arguments: Mapping[str, Any]) -> Any:
    """The sum of the arguments."""
    return sum(arguments.values())


class LoggedTalk:
    """A conversation in ``folder``; ``reports`` are the sentences about what could not be saved."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self.reports: list[str] = []
        self.store = ConversationStore(folder, max_bytes)
        self.conversation = Conversation()
        self.journal = self.store.journal(self.conversation, self.reports.append)
        self.conversation.journal = self.journal

    @property
    def path(self) -> Path:
        """The log."""
        return self.store.folder / f"{self.conversation.id}.jsonl"

    async def ask(
        self,
        text: str,
        *turns: Mapping[str, Any],
        work: Callable[[Mapping[str, Any]], Awaitable[Any]] = added,
    ) -> str:
        """The answer to ``text`` by a model that takes ``turns``."""
        toolbox = Toolbox([], [OneTool(work)])
        done = await answer(Question(text, "m"), Scripted(list(turns)), toolbox, self.conversation)
        return done.content

    def resume(self) -> None:
        """Go on as another process would."""
        if isinstance(self.conversation.journal, LogJournal):
            self.conversation.journal.close()
        self.conversation = self.store.resumed(self.store.find(self.conversation.id), self.reports.append)


def calls(*numbers: int) -> dict[str, Any]:
    """A turn with a call of the tool for each number, which adds 1 to it."""
    return {"calls": [{"tool": "add", "arguments": {"a": number, "b": 1}} for number in numbers]}
