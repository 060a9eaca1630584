"""Where the conversations of one principal are kept: in a folder, or, where nothing is to be saved, in
memory."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from ...conversation import Conversation
from ...conversation.fork import forked
from ...conversation.journal import now, title_of
from ...conversation.log import Head, Log
from ...conversation.store import ConversationStore, Entry
from ...sessions.kept.saved_conversation import SavedConversation
from ...sessions.kept.stored import settings_of, store_of
from .details import Details, read_details, remove_details, with_details, write_details

if TYPE_CHECKING:
    from ...sessions.host import Host
    from ...sessions.session import Session

LOCAL = "local"
"""The principal where no token is needed: its conversations are those of the command line."""
_AN_ID = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True)
class Summary:
    """What a list shows of a conversation; ``changed`` is in seconds since 1970."""

    head: Head
    details: Details
    changed: float
    size: int


class Shelf(Protocol):
    """Conversations by their ids. What blocks on files is for a thread."""

    def summaries(self) -> list[Summary]:
        """All, the one that was gone on with last first; titles that a person gave are not read yet."""
        ...

    def room(self) -> tuple[int, int | None]:
        """How many bytes all of them take, and how many they may; ``None`` is for any number."""
        ...

    def find(self, conversation_id: str) -> Summary | None:
        """The one of that id."""
        ...

    def log(self, conversation_id: str) -> Log:
        """The whole of one that is there."""
        ...

    def keep(self, conversation_id: str, details: Details) -> None:
        """Keep ``details`` of it, which may be a new one. Raises ``StoreError``."""
        ...

    def opened(self, conversation_id: str, host: Host) -> SavedConversation:
        """It, to be gone on with. Raises ``BusyError`` where another process does so."""
        ...

    def fork(self, conversation_id: str, questions: int | None) -> str:
        """The id of a copy of the first ``questions``. Raises ``UsageError`` and ``StoreError``."""
        ...

    def delete(self, conversation_id: str) -> None:
        """Remove it. Raises ``BusyError`` and ``StoreError``."""
        ...


def shelf_of(session: Session, principal: str, memory: dict[str, MemoryShelf]) -> Shelf:
    """The shelf of ``principal``, as the config of ``session`` says. Raises ``ConsentError`` and
    ``StoreError``."""
    settings = settings_of(session.config)
    if not settings.save:
        return memory.setdefault(principal, MemoryShelf())
    store = store_of(session.config, session.choice, session.host)
    if principal != LOCAL:
        name = sha256(principal.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        store = store.within(f"of-{name}")
    return FolderShelf(store, settings.user_bytes)


class FolderShelf:
    """The conversations in the folder of ``store``, which may take ``most`` bytes."""

    def __init__(self, store: ConversationStore, most: int | None) -> None:
        self._store = store
        self._most = most

    def room(self) -> tuple[int, int | None]:
        """With the files beside them, the damaged ones that were put aside, and all else that is there."""
        return (0, None) if self._most is None else (self._store.used_bytes(), self._most)

    def summaries(self) -> list[Summary]:
        """Those with a log, and those in which nothing was asked yet."""
        found = {entry.head.id: _summary(entry, Details()) for entry in self._store.entries()}
        for name in with_details(self._store.folder):
            if name not in found and (summary := self._unbegun(name)) is not None:
                found[name] = summary
        return sorted(found.values(), key=lambda each: (-each.changed, each.head.id))

    def find(self, conversation_id: str) -> Summary | None:
        """The one of that id, with its details."""
        if not _AN_ID.fullmatch(conversation_id):
            return None
        entry = self._store.entry(conversation_id)
        if entry is None:
            return self._unbegun(conversation_id)
        return _summary(entry, read_details(self._store.folder, conversation_id) or Details())

    def log(self, conversation_id: str) -> Log:
        """Its log; an empty one where nothing was asked yet."""
        entry = self._store.entry(conversation_id)
        if entry is not None:
            return self._store.read(entry)
        return _empty(conversation_id, read_details(self._store.folder, conversation_id) or Details())

    def keep(self, conversation_id: str, details: Details) -> None:
        """In a file beside the log."""
        write_details(self._store.folder, conversation_id, details)

    def opened(self, conversation_id: str, host: Host) -> SavedConversation:
        """It is held until it is closed."""
        return SavedConversation.within(self._store, conversation_id, host)

    def fork(self, conversation_id: str, questions: int | None) -> str:
        """A log of its own, with the same details."""
        log = self.log(conversation_id)
        copy = forked(log.conversation, questions)
        details = read_details(self._store.folder, conversation_id) or Details(created=now())
        write_details(self._store.folder, copy.id, replace(details, created=now()))
        if copy.messages:
            problems: list[str] = []
            copy.journal = journal = self._store.journal(copy, problems.append, origin=log.head)
            copy.record()
            journal.close()
        return copy.id

    def delete(self, conversation_id: str) -> None:
        """With all that is beside it."""
        entry = self._store.entry(conversation_id)
        if entry is not None:
            self._store.delete(entry)
        remove_details(self._store.folder, conversation_id)

    def _unbegun(self, conversation_id: str) -> Summary | None:
        details = read_details(self._store.folder, conversation_id)
        if details is None:
            return None
        if details.begun:  # its log was removed, as it was too old
            remove_details(self._store.folder, conversation_id)
            return None
        head = Head(conversation_id, details.created, details.title, details.model)
        return Summary(head, details, _seconds(details.created), 0)


class MemoryShelf:
    """Conversations that end with the process."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Details, Conversation, str]] = {}

    def room(self) -> tuple[int, int | None]:
        """They are in no file."""
        return 0, None

    def summaries(self) -> list[Summary]:
        """All of this process."""
        found = [summary for name in self._kept if (summary := self.find(name)) is not None]
        return sorted(found, key=lambda each: (-each.changed, each.head.id))

    def find(self, conversation_id: str) -> Summary | None:
        """The one of that id."""
        if conversation_id not in self._kept:
            return None
        details, _, changed = self._kept[conversation_id]
        return Summary(self.log(conversation_id).head, details, _seconds(changed), 0)

    def log(self, conversation_id: str) -> Log:
        """What there is of it."""
        details, conversation, _ = self._kept[conversation_id]
        title = details.title or title_of(conversation.messages[:1])
        return Log(Head(conversation_id, details.created, title, details.model), conversation)

    def keep(self, conversation_id: str, details: Details) -> None:
        """In memory."""
        if conversation_id in self._kept:
            conversation = self._kept[conversation_id][1]
        else:
            conversation = Conversation()
            conversation.id = conversation_id
        self._kept[conversation_id] = (details, conversation, now())

    def opened(self, conversation_id: str, host: Host) -> SavedConversation:
        """It is never busy."""
        return SavedConversation(self._kept[conversation_id][1], None, host)

    def fork(self, conversation_id: str, questions: int | None) -> str:
        """A copy in memory."""
        details, conversation, _ = self._kept[conversation_id]
        copy = forked(conversation, questions)
        self._kept[copy.id] = (replace(details, created=now()), copy, now())
        return copy.id

    def delete(self, conversation_id: str) -> None:
        """Forget it."""
        self._kept.pop(conversation_id, None)


def _summary(entry: Entry, details: Details) -> Summary:
    return Summary(entry.head, details, entry.changed, entry.size)


def _empty(conversation_id: str, details: Details) -> Log:
    conversation = Conversation()
    conversation.id = conversation_id
    return Log(Head(conversation_id, details.created, details.title, details.model), conversation)


def _seconds(at: str) -> float:
    from datetime import datetime

    with suppress(ValueError, OverflowError, TypeError):
        return datetime.fromisoformat(at).timestamp()
    return 0.0
