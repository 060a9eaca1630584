"""``/todos``: the list of tasks."""

from __future__ import annotations

from ....terminal.of_events.todos import todo_lines
from ....terminal.output import print_coloured, print_note
from ...chat import Chat
from ...command import Command
from ...workspace import called


async def _run(chat: Chat, argument: str) -> None:
    del argument
    async for answer in called(chat, "Todos"):
        print_coloured((line, None) for line in todo_lines(answer))
        if not answer["todos"]:
            print_note("there are no tasks")


COMMAND = Command("todos", "", "shows the list of tasks", _run)
