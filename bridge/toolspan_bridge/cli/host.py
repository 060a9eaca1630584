"""The command line as the host of a session: it prints at the terminal, and asks there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from ..principals import LOCAL_USER
from .terminal.elicitation import TerminalElicitor, UnattendedElicitor
from .terminal.output import notes_are_printed, print_note
from .terminal.questions.lines import agreed
from .terminal.questions.one_question import has_terminal
from .terminal.sign_in import TerminalSignIn, person_here
from .terminal.waiting.of_servers import servers_starting

if TYPE_CHECKING:
    from toolspan_server.config import Config
    from toolspan_server.engines.upstreams import ServerSpec

    from ..approvals import FilesOf, Person
    from ..sessions.host import Host, Warnings
    from ..trust.folders import Untrusted
    from .terminal.plan_question import TerminalPlanReader

__all__ = ["TERMINAL", "TerminalHost"]


class TerminalHost:
    """Prints notes on stderr; the person is whoever sits at the terminal."""

    principal = LOCAL_USER

    @property
    def has_person(self) -> bool:
        """Whether stdin and stderr are a terminal."""
        return has_terminal()

    @property
    def shows_notes(self) -> bool:
        """Whether notes are printed here."""
        return notes_are_printed()

    def note(self, text: str) -> None:
        """Print ``text`` on stderr."""
        print_note(text)

    def agreed(self, question: str) -> bool:
        """Whether the person says yes. Raises ``click.Abort``."""
        return agreed(question)

    def trusts(self, folder: Path, found: Sequence[Untrusted]) -> bool:
        """Whether the person allows ``found``. Raises ``click.Abort``."""
        from .terminal.trust import asked_to_trust

        return asked_to_trust(folder, found)

    def approvals_by(self, files_of: FilesOf, warnings: Warnings) -> Person | None:
        """The person at the terminal, if there is one."""
        from .terminal.approval import TerminalPerson

        return TerminalPerson(files_of, warnings) if has_terminal() else None

    def plan_reader(self) -> TerminalPlanReader | None:
        """The person at the terminal, if there is one."""
        from .terminal.plan_question import TerminalPlanReader

        return TerminalPlanReader() if has_terminal() else None

    def elicitor(self) -> TerminalElicitor | UnattendedElicitor:
        """The person at the terminal, or nobody."""
        return TerminalElicitor() if has_terminal() else UnattendedElicitor()

    def sign_in(self) -> TerminalSignIn | None:
        """The person at the terminal, if there is one."""
        return person_here()

    def servers_starting(self, names: Iterable[str]) -> AbstractContextManager[Callable[[str], None]]:
        """The wait is shown at a terminal."""
        return servers_starting(names)

    def wires_shown(
        self, config: Config, servers: Sequence[ServerSpec], paths: tuple[str, ...]
    ) -> AbstractContextManager[None]:
        """They are printed on stderr."""
        from .wire.log import wire_shown

        return wire_shown(config, servers, paths)

    async def standing_model(self) -> str:
        """The user's default model; a person is asked once for it. Raises ``UsageError``, ``click.Abort``."""
        from .terminal.standing_model import standing_model

        return await standing_model()


TERMINAL: Host = TerminalHost()
