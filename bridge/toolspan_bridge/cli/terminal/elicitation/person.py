"""Who answers servers: the person at the terminal, or nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..output import print_note
from ..questions.one_question import one_question

if TYPE_CHECKING:
    from ....client import Elicitation, Elicited


class TerminalElicitor:
    """The person at the terminal. Ctrl+D leaves a question without an answer."""

    async def elicit(self, question: Elicitation) -> Elicited:
        """The person's answer."""
        from ....client import Elicited
        from .form import filled_in
        from .page import visited

        try:
            async with one_question():
                return await (visited(question) if question.url else filled_in(question))
        except EOFError:
            return Elicited("cancel")


class UnattendedElicitor:
    """Nobody: every question is cancelled, and stderr says who asked what."""

    async def elicit(self, question: Elicitation) -> Elicited:
        """No answer."""
        from ....client import Elicited

        wanted = "to visit a page" if question.url else f"for {', '.join(f.name for f in question.fields)}"
        asked = f"{question.tool} of the server {question.server!r} asks {wanted} ({question.message!r})"
        print_note(f"{asked}, and there is no terminal to ask at: cancelled")
        return Elicited("cancel")
