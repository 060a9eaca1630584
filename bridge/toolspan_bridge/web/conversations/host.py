"""A conversation as the host of its questions: what it tells and asks are events, and answers are posted."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .asking import AskedElicitor, AskedPerson, AskedPlanReader

if TYPE_CHECKING:
    from toolspan_server.config import Config
    from toolspan_server.engines.upstreams import ServerSpec

    from ...approvals import FilesOf
    from ...oauth import SignInPerson
    from ...sessions.host import Host, Warnings
    from ...trust.folders import Untrusted
    from .pending import PendingRequests

Tell = Callable[[str, dict[str, Any]], None]
"""Takes an event: its name and its data."""


class ConversationHost:
    """Tells by ``tell`` what is done for ``principal``, and asks by ``pending`` whoever looks at the
    conversation. ``base`` is the host of the app's session, for what is no matter of one conversation."""

    def __init__(self, base: Host, principal: str, tell: Tell, pending: PendingRequests) -> None:
        self.principal = principal
        self._base = base
        self._tell = tell
        self._pending = pending

    @property
    def has_person(self) -> bool:
        """Nobody here may allow what a folder brings."""
        return False

    @property
    def shows_notes(self) -> bool:
        """Always: as events."""
        return True

    def note(self, text: str) -> None:
        """An event ``notice``."""
        self._tell("notice", {"text": text})

    def agreed(self, question: str) -> bool:
        """No: what this asks about is not done from here."""
        del question
        return False

    def trusts(self, folder: Path, found: Sequence[Untrusted]) -> bool:
        """No."""
        del folder, found
        return False

    def approvals_by(self, files_of: FilesOf, warnings: Warnings) -> AskedPerson:
        """Whoever answers the event ``approval_requested``."""
        del files_of
        return AskedPerson(self._tell, self._pending, warnings)

    def plan_reader(self) -> AskedPlanReader:
        """Whoever answers the event ``approval_requested`` of a plan."""
        return AskedPlanReader(self._tell, self._pending)

    def elicitor(self) -> AskedElicitor:
        """Whoever answers the event ``elicitation_requested``."""
        return AskedElicitor(self._tell, self._pending)

    def sign_in(self) -> SignInPerson | None:
        """Nobody: signing in is a matter of the servers, not of a conversation."""
        return None

    @contextmanager
    def servers_starting(self, names: Iterable[str]) -> Generator[Callable[[str], None]]:
        """Nothing is shown."""
        del names
        yield lambda _name: None

    def wires_shown(
        self, config: Config, servers: Sequence[ServerSpec], paths: tuple[str, ...]
    ) -> AbstractContextManager[None]:
        """Wires are shown to the operator alone."""
        return self._base.wires_shown(config, servers, paths)

    async def standing_model(self) -> str:
        """That of the app."""
        return await self._base.standing_model()
