"""A conversation that is saved in a file while it continues."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from ...conversation import Conversation
from ...errors import BridgeError, UsageError
from ...messages import Message
from ..terminal.output import print_note


class SavedConversation:
    """``messages``, written to ``path`` whenever there are more of them; nowhere without a path."""

    def __init__(self, conversation: Conversation, path: Path | None) -> None:
        self.conversation = conversation
        self._path = path

    @property
    def messages(self) -> list[Message]:
        """The messages, including those of each new question."""
        return self.conversation.messages

    def start_anew(self) -> None:
        """Begin another conversation, which is kept in the same file."""
        self.conversation = Conversation()

    @classmethod
    def opened(cls, save_as: str | None, resume: str | None) -> Self:
        """The conversation in ``resume``, to be kept in ``save_as``.

        Raises ``UsageError`` when ``resume`` cannot be read, or ``save_as`` is a file of something else.
        """
        conversation = Conversation.load(Path(resume)) if resume else Conversation()
        if save_as is None:
            return cls(conversation, None)
        path = Path(save_as)
        _check(path, resumed=resume is not None and Path(resume).resolve() == path.resolve())
        return cls(conversation, path)

    def save_as(self, name: str) -> str:
        """Save it in the file ``name`` from now on; returns a note about that. Raises ``BridgeError``."""
        path = Path(name)
        _check(path, resumed=self._path is not None and path.resolve() == self._path.resolve())
        self.conversation.save(path)
        self._path = path
        return f"the conversation is kept in {path}"

    @contextmanager
    def written(self) -> Generator[None]:
        """Save the messages added in the block, also when it is cancelled or fails; write errors are
        reported.
        """
        before = len(self.messages)
        try:
            yield
        finally:
            if self._path is not None and len(self.messages) > before:
                try:
                    self.conversation.save(self._path)
                except BridgeError as fault:
                    print_note(f"{fault}")


def _check(path: Path, *, resumed: bool) -> None:
    """Raise ``UsageError`` rather than let ``path`` be overwritten by a different conversation."""
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise UsageError(f"{path} cannot be written: name a file in a folder that is there")
    if path.exists() and not resumed:
        raise UsageError(
            f"{path} exists already: choose another name, or go on with it by --resume {path} --save {path}"
        )
