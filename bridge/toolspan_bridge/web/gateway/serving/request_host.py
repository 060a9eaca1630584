"""The host of one request: nobody is there to ask, and what is to be told goes into the answer's headers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolspan_server.config import Config
    from toolspan_server.engines.upstreams import ServerSpec

    from ....agent.plan_mode import PlanReader
    from ....approvals import FilesOf, Person
    from ....client import Elicitor
    from ....oauth import SignInPerson
    from ....sessions.host import Host, Warnings
    from ....trust.folders import Untrusted

__all__ = ["RequestHost"]


class RequestHost:
    """Keeps the ``notes`` of a request of ``principal``. What a person would decide is decided with no; the
    rest is that of ``app``."""

    has_person = False
    shows_notes = True

    def __init__(self, app: Host, principal: str | None) -> None:
        self.principal = principal
        self.notes: list[str] = []
        self._app = app

    def note(self, text: str) -> None:
        """Keep it."""
        self.notes.append(text)

    def agreed(self, question: str) -> bool:
        """No."""
        return False

    def trusts(self, folder: Path, found: Sequence[Untrusted]) -> bool:
        """No."""
        return False

    def approvals_by(self, files_of: FilesOf, warnings: Warnings) -> Person | None:
        """Nobody."""
        return None

    def plan_reader(self) -> PlanReader | None:
        """Nobody."""
        return None

    def elicitor(self) -> Elicitor:
        """That of the app."""
        return self._app.elicitor()

    def sign_in(self) -> SignInPerson | None:
        """Nobody."""
        return None

    def servers_starting(self, names: Iterable[str]) -> AbstractContextManager[Callable[[str], None]]:
        """As the app shows it."""
        return self._app.servers_starting(names)

    def wires_shown(
        self, config: Config, servers: Sequence[ServerSpec], paths: tuple[str, ...]
    ) -> AbstractContextManager[None]:
        """As the app shows them."""
        return self._app.wires_shown(config, servers, paths)

    async def standing_model(self) -> str:
        """That of the app."""
        return await self._app.standing_model()
