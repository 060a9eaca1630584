"""A conversation that is saved while it goes on: in the store as it happens, in a file after each answer."""

from __future__ import annotations

import re
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import real_file, write_private

from ...conversation import Conversation, Summary
from ...conversation.files import files_beside, keep_file
from ...conversation.fork import forked
from ...conversation.journal import LogJournal, now, title_of
from ...conversation.log import Head, Log
from ...conversation.questions import question_places
from ...conversation.settings import Settings
from ...conversation.store import LATEST, ConversationStore, Entry, subagents_beside
from ...errors import BridgeError, BusyError, UsageError
from ...messages import Message
from ..chosen.saving import SavingChoice
from ..host import Host
from ..session import Session
from .stored import kept_by, prune_after, settings_of, store_of

_AN_ID = re.compile(rf"[0-9a-f]{{4,64}}|{LATEST}")
SHOWN_ID = 12


class SavedConversation:
    """``conversation``, kept in a store as it happens, and written to ``path`` after each answer, where there
    are such; ``host`` is told what goes wrong."""

    def __init__(self, conversation: Conversation, path: Path | None, host: Host) -> None:
        self._host = host
        self.conversation = conversation
        self._path = path
        self._store: ConversationStore | None = None
        self._changed: datetime | None = None
        """When it was last written before it was gone on with, in local time."""

    @property
    def messages(self) -> list[Message]:
        """The messages, including those of each new question."""
        return self.conversation.messages

    @property
    def name(self) -> str:
        """What it is gone on with by; empty when it is not in a store."""
        return self.conversation.id[:SHOWN_ID] if self._entry() else ""

    def _entry(self) -> Entry | None:
        return None if self._store is None else self._store.entry(self.conversation.id)

    @property
    def is_kept(self) -> bool:
        """Whether it is anywhere but in this process."""
        return self._path is not None or bool(self.name)

    @property
    def where(self) -> str:
        """A sentence about where it is kept."""
        kept = [f"in {self._path}"] if self._path is not None else list[str]()
        kept += [f"as {name}, which --conversation {name} goes on with"] if (name := self.name) else []
        if kept:
            return f"the conversation is kept {' and '.join(kept)}"
        return (
            "the conversation is not kept: /save FILE keeps it" if self.messages else "nothing was said yet"
        )

    @property
    def restored(self) -> str:
        """A sentence about what is gone on with: its title, how long it is, who answered last, and when."""
        log, entry = self.log(), self._entry()
        asked = len(question_places(self.messages))
        models = [str(note.data.get("model", "")) for note in log.notes if note.kind == "model"]
        model = next(iter([*models[::-1], *reversed(self.conversation.models), log.head.model]), "")
        facts = [f"{asked} question{'' if asked == 1 else 's'}"]
        facts += [f"last answered by {model}"] if model else []
        facts += [f"on {self._changed:%Y-%m-%d at %H:%M}"] if self._changed else []
        facts += [f"tools {rule}" for rule in self.conversation.settings.tools]
        name = f"{self.conversation.id[:SHOWN_ID]}, " if entry else ""
        return f"going on with {name}“{log.head.title}”: {', '.join(facts)}"

    def as_dict(self) -> dict[str, str]:
        """``{"conversation"}``, its id, where it is in a store."""
        return {"conversation": self.conversation.id} if self.name else {}

    @classmethod
    def opened(cls, save_as: str | None, resume: str | None, host: Host) -> Self:
        """The conversation in the file ``resume``, to be kept in the file ``save_as``.

        Raises ``UsageError`` when ``resume`` cannot be read, or ``save_as`` is a file of something else.
        """
        conversation = Conversation.load(Path(resume)) if resume else Conversation()
        path = None if save_as is None else Path(save_as)
        if path is not None:
            _check(path, resumed=resume is not None and Path(resume).resolve() == path.resolve())
        saved = cls(conversation, path, host)
        if resume is not None:
            saved._changed = datetime.fromtimestamp(Path(resume).stat().st_mtime, UTC).astimezone()
        return saved

    @classmethod
    def within(cls, store: ConversationStore, conversation_id: str, host: Host) -> Self:
        """The conversation of that very id in ``store``, or a new one, which is kept there from now on.

        Raises ``BusyError`` when another process goes on with it, ``UsageError`` and ``StoreError``.
        """
        entry = store.entry(conversation_id)
        if entry is not None:
            saved = cls(store.resumed(entry, host.note), None, host)
        else:
            saved = cls(Conversation(), None, host)
            saved.conversation.id = conversation_id
            saved.conversation.journal = store.journal(saved.conversation, host.note)
        saved._store = store
        return saved

    def keep(self, session: Session, choice: SavingChoice) -> None:
        """Go on with the conversation that ``choice`` names, and keep it from now on, as the config says.

        Raises ``BridgeError`` when the named one cannot be gone on with. That a new one cannot be kept is
        only said.
        """
        try:
            store = store_of(session.config, session.choice, session.host)
        except BridgeError as fault:
            if choice.name is not None:
                raise
            self._host.note(f"the conversation is not saved: {fault}")
            return
        saves = choice.save and settings_of(session.config).save
        if saves:
            self._store = store
        if choice.name is not None:
            self._go_on(store, choice.name, fork=choice.fork, saves=saves)
        elif choice.fork:
            self._go_on_with_copy(forked(self.conversation))
        elif saves:
            self._attach(store)

    def look_up(self, session: Session, choice: SavingChoice) -> None:
        """Read the conversation that ``choice`` names, and keep nothing. Raises ``BridgeError``."""
        if choice.name is not None:
            store = store_of(session.config, session.choice, session.host)
            self.conversation = store.read(store.find(choice.name)).conversation

    def go_on_with(self, name: str) -> None:
        """Leave this conversation for the one that ``name`` names. Raises ``BridgeError``."""
        before = self.conversation
        self._go_on(self._needed_store(), name, fork=False, saves=True)
        if before is not self.conversation:
            self._leave_file()
            _close(before)

    def stored(self) -> list[Entry]:
        """Every conversation that is saved where this one is. Raises ``BridgeError``."""
        return self._needed_store().entries()

    def start_anew(self) -> None:
        """Begin another conversation; the file, if there is one, stays that of the one before."""
        self._leave_file()
        self._replace(Conversation())

    def fork(self, questions: int | None = None) -> None:
        """Go on with a copy, of the first ``questions`` of it; the file, if there is one, stays that of the
        one before. Raises ``UsageError``."""
        copy = forked(self.conversation, questions)
        self._leave_file()
        self._go_on_with_copy(copy)

    def _go_on_with_copy(self, copy: Conversation) -> None:
        self._replace(copy, origin=self.log().head)
        copy.record()

    def log(self) -> Log:
        """What is known of it: its log, or its messages."""
        entry = self._entry()
        if self._store is not None and entry is not None:
            return self._store.read(entry)
        head = Head(self.conversation.id, now(), title_of(self.messages[:1]))
        return Log(head, self.conversation)

    def save_as(self, name: str) -> str:
        """Save it in the file ``name`` from now on; returns a note about that. Raises ``BridgeError``."""
        path = Path(name)
        _check(path, resumed=self._path is not None and path.resolve() == self._path.resolve())
        self.conversation.save(path)
        self._path = path
        return f"the conversation is kept in {path}"

    def keep_subagent(self, conversation: Conversation, call_id: str) -> str:
        """Save the ``conversation`` of a sub-agent, started by the call ``call_id``, in a folder beside this
        one; returns where, ``""`` where nothing is saved. Write errors are reported."""
        if self._path is not None:
            folder = subagents_beside(real_file(self._path))
        elif self._store is not None:
            folder = self._store.subagents(self.conversation.id)
        else:
            return ""
        name = re.sub(r"[^A-Za-z0-9_-]", "_", call_id)[:50]
        path = folder / f"{len(self.messages)}-{name}-{secrets.token_hex(4)}.json"
        try:
            write_private(private_folder(folder) / path.name, conversation.to_json())
        except OSError as fault:
            self._host.note(f"the conversation of a sub-agent cannot be saved as {path}: {fault.strerror}")
            return ""
        except BridgeError as fault:
            self._host.note(f"{fault}")
            return ""
        return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)

    def keep_file(self, name: str, suffix: str, data: bytes) -> str:
        """Keep ``data`` that came within it in a folder beside this one, and return where; ``""`` where
        nothing is saved. Raises ``StoreError``."""
        if self._path is not None:
            folder = files_beside(real_file(self._path))
        elif self._store is not None:
            folder = self._store.files(self.conversation.id)
        else:
            return ""
        path = keep_file(folder, name, suffix, data)
        return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)

    @contextmanager
    def written(self) -> Generator[None]:
        """Save the messages added in the block, another mode or a summary, also when it is cancelled or
        fails; write errors are reported.
        """
        before = self._shape()
        try:
            yield
        finally:
            if isinstance(journal := self.conversation.journal, LogJournal):
                journal.sync()
            if self._path is not None and self._shape() != before:
                try:
                    self.conversation.save(self._path)
                except BridgeError as fault:
                    self._host.note(f"{fault}")

    def _shape(self) -> tuple[list[Message], bool, Summary | None, Settings]:
        conversation = self.conversation
        return (
            list(conversation.messages),
            conversation.plan_mode,
            conversation.summary,
            conversation.settings,
        )

    @contextmanager
    def closed_afterwards(self, session: Session) -> Generator[None]:
        """Let other processes go on with it after the block, and remove what is not kept any longer."""
        try:
            yield
        finally:
            _close(self.conversation)
            if self._store is not None:
                prune_after(self._store, kept_by(session.config), self.conversation.id, self._host)

    def _go_on(self, store: ConversationStore, name: str, *, fork: bool, saves: bool) -> None:
        entry = store.find(name)
        if entry.head.id == self.conversation.id:
            return
        self._changed = datetime.fromtimestamp(entry.changed, UTC).astimezone()
        if fork or not saves:
            self.conversation = store.read(entry).conversation
            if fork:
                self._go_on_with_copy(forked(self.conversation))
            return
        try:
            self.conversation = store.resumed(entry, self._host.note)
        except BusyError as busy:
            if not self._host.agreed(f"{busy}. Go on with a copy now?"):
                raise
            self.conversation = store.read(entry).conversation
            self._go_on_with_copy(forked(self.conversation))

    def _leave_file(self) -> None:
        """Write no other conversation over the one in the file."""
        if self._path is not None:
            self._host.note(f"{self._path} stays as it is; /save FILE keeps what follows")
            self._path = None

    def _needed_store(self) -> ConversationStore:
        if self._store is None:
            raise UsageError("conversations are not saved here (--no-save, or conversations.save is false)")
        return self._store

    def _attach(self, store: ConversationStore) -> None:
        """Keep a conversation that is new, or came in a file."""
        entry = store.entry(self.conversation.id) if self.messages else None
        if entry is None:
            self.conversation.journal = store.journal(self.conversation, self._host.note)
        else:
            self.conversation.journal = store.resumed(entry, self._host.note).journal

    def _replace(self, conversation: Conversation, origin: Head | None = None) -> None:
        _close(self.conversation)
        self.conversation = conversation
        if self._store is not None:
            conversation.journal = self._store.journal(conversation, self._host.note, origin=origin)


def named(choice: SavingChoice, resume: str | None) -> tuple[SavingChoice, str | None]:
    """``choice`` and the file of ``--resume``, which takes an id too. Raises ``UsageError``."""
    if resume is None:
        return choice, None
    if choice.name is not None:
        raise UsageError("--resume names one conversation, --continue or --conversation another: write one")
    if _AN_ID.fullmatch(resume) and not Path(resume).exists():
        return replace(choice, name=resume), None
    return choice, resume


def _close(conversation: Conversation) -> None:
    if isinstance(conversation.journal, LogJournal):
        conversation.journal.close()
        conversation.journal = None


def _check(path: Path, *, resumed: bool) -> None:
    """Raise ``UsageError`` rather than let ``path`` be overwritten by a different conversation."""
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise UsageError(f"{path} cannot be written: name a file in a folder that is there")
    if path.exists() and not resumed:
        raise UsageError(
            f"{path} exists already: choose another name, or go on with it by --resume {path} --save {path}"
        )
