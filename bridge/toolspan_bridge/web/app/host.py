"""The host of the app's own session: its notes go to the operator and to whoever follows the events."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolspan_server.config import Config
    from toolspan_server.engines.upstreams import ServerSpec

    from ...agent.plan_mode import PlanReader
    from ...approvals import FilesOf, Person
    from ...client import Elicitation, Elicited, Elicitor
    from ...oauth import SignInPerson
    from ...sessions.host import Host, Warnings
    from ...trust.folders import Untrusted


class WebHost:
    """The host under all conversations, which have hosts of their own with the people who use them.

    ``operator`` is the host of the command line: it prints the notes, and may be asked whether the config is
    trusted, until ``started``. ``on_note`` takes each note.
    """

    def __init__(self, operator: Host, on_note: Callable[[str], None]) -> None:
        self._operator = operator
        self._on_note = on_note
        self.started = False

    @property
    def principal(self) -> None:
        """Nobody: each request says whom it is made for."""
        return

    @property
    def has_person(self) -> bool:
        """Whether the operator can be asked."""
        return not self.started and self._operator.has_person

    @property
    def shows_notes(self) -> bool:
        """Always."""
        return True

    def note(self, text: str) -> None:
        """Tell the operator and those who follow."""
        self._operator.note(text)
        self._on_note(text)

    def agreed(self, question: str) -> bool:
        """Whether the operator says yes; once requests are served, nobody does."""
        return self.has_person and self._operator.agreed(question)

    def trusts(self, folder: Path, found: Sequence[Untrusted]) -> bool:
        """Whether the operator allows all of ``found``; once requests are served, nobody does."""
        return self.has_person and self._operator.trusts(folder, found)

    def approvals_by(self, files_of: FilesOf, warnings: Warnings) -> Person | None:
        """Nobody."""
        return None

    def plan_reader(self) -> PlanReader | None:
        """Nobody."""
        return None

    def elicitor(self) -> Elicitor:
        """Nobody: each question is cancelled, and a note says so, without its text, which is between the
        server and who called it. Conversations answer for themselves."""
        return _Unattended(self)

    def sign_in(self) -> SignInPerson | None:
        """Nobody."""
        return None

    @contextmanager
    def servers_starting(self, names: Iterable[str]) -> Generator[Callable[[str], None]]:
        """Nothing is shown once requests are served."""
        if self.started:
            yield lambda _name: None
            return
        with self._operator.servers_starting(names) as ready:
            yield ready

    def wires_shown(
        self, config: Config, servers: Sequence[ServerSpec], paths: tuple[str, ...]
    ) -> AbstractContextManager[None]:
        """They are shown to the operator."""
        return self._operator.wires_shown(config, servers, paths)

    async def standing_model(self) -> str:
        """The user's default model, else the one that needs no key; nobody is asked. Raises
        ``UsageError``."""
        from ...providers import DEFAULT_MODEL
        from ...sessions.chosen.user_config import user_default_model

        return user_default_model() or DEFAULT_MODEL


class _Unattended:
    def __init__(self, host: WebHost) -> None:
        self._host = host

    async def elicit(self, question: Elicitation) -> Elicited:
        from ...client import Elicited

        asked = f"{question.tool} of the server {question.server!r} asks something"
        self._host.note(f"{asked}, and nobody is there to ask: cancelled")
        return Elicited("cancel")
