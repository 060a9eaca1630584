"""A conversation that is saved as it happens, and gone on with by another process and another model."""

from __future__ import annotations

from pathlib import Path

import anyio

from toolspan_bridge import (
    Conversation,
    ConversationStore,
    Question,
    Scripted,
    Toolbox,
    ToolResults,
    answer,
)

STORE = ConversationStore(Path("conversations"))


async def main() -> None:
    nothing = Toolbox([])
    talk = Conversation()
    talk.journal = journal = STORE.journal(talk, print)
    await answer(Question("Where is Paris?", "m"), Scripted([{"text": "In France."}]), nothing, talk)
    journal.close()  # as the end of the process would

    later = STORE.resumed(STORE.find("latest"), print)
    await answer(Question("And Rome?", "other"), Scripted([{"text": "In Italy."}]), nothing, later)

    log = STORE.read(STORE.find(later.id))
    print(f"{log.head.title} (begun {log.head.created})")
    for message in log.conversation.messages:
        if not isinstance(message, ToolResults):
            print(f"{type(message).__name__}: {message.text}")


anyio.run(main)
