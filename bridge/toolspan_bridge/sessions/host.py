"""The host of a session (MCP's word): the application around it, with the person whom it may ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from toolspan_server.config import Config
    from toolspan_server.engines.upstreams import ServerSpec

    from ..agent.plan_mode import PlanReader
    from ..approvals import FilesOf, Person
    from ..client import Elicitor
    from ..oauth import SignInPerson
    from ..trust.folders import Untrusted

Warnings = Callable[[str, str], list[str]]
"""What a person should know of a server's tool before they allow it."""


class Host(Protocol):
    """What a session tells to, and wants of, the application that it runs in. Without a person every question
    is answered with no."""

    @property
    def principal(self) -> str | None:
        """Whom calls are made for; ``None`` where each request says it (``Toolbox.acting_for``)."""
        ...

    @property
    def has_person(self) -> bool:
        """Whether somebody can be asked now."""
        ...

    @property
    def shows_notes(self) -> bool:
        """Whether notes are shown now; a note that is said once is kept for later where they are not."""
        ...

    def note(self, text: str) -> None:
        """Tell what a person should know, a sentence without an end."""
        ...

    def agreed(self, question: str) -> bool:
        """Whether the person says yes; no where nobody can be asked. It waits for the answer."""
        ...

    def trusts(self, folder: Path, found: Sequence[Untrusted]) -> bool:
        """Whether the person, who can be asked, allows all of ``found`` in ``folder``. It waits for the
        answer."""
        ...

    def approvals_by(self, files_of: FilesOf, warnings: Warnings) -> Person | None:
        """Who is asked about calls, whose paths begin at ``files_of``; ``None`` where there is nobody."""
        ...

    def plan_reader(self) -> PlanReader | None:
        """Who decides about plans; ``None`` where there is nobody."""
        ...

    def elicitor(self) -> Elicitor:
        """Who answers what servers ask; where there is nobody, what cancels it and says so."""
        ...

    def sign_in(self) -> SignInPerson | None:
        """Who may sign in at servers; ``None`` where there is nobody."""
        ...

    def servers_starting(self, names: Iterable[str]) -> AbstractContextManager[Callable[[str], None]]:
        """In the block the servers ``names`` start; it gets what to call with each that is ready."""
        ...

    def wires_shown(
        self, config: Config, servers: Sequence[ServerSpec], paths: tuple[str, ...]
    ) -> AbstractContextManager[None]:
        """In the block what goes over the wires is shown, without the secrets of ``config``, which ``paths``
        name, and of ``servers``."""
        ...

    async def standing_model(self) -> str:
        """The model that answers when none is named anywhere, ``provider/model``. Raises ``UsageError``."""
        ...
