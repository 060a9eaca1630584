"""The client that called a tool: what the tool may report to it and ask it while it runs."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ..errors import ToolFailure, ToolspanError

Ability = Literal["elicitation", "sampling", "roots"]
Capability = Literal["elicitation", "sampling", "roots", "sampling.tools", "task"]
"""What a client may have declared: an ability, or that the model which it asks may call tools. ``task``: that
the call may go on as a task, which it does from its ``release`` on."""

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
ClientAnswer = Mapping[str, Any]
"""The answer as MCP writes it: an ``ElicitResult``, ``CreateMessageResult`` or ``ListRootsResult``."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the client: the needed capability, and the parameters in MCP's form.

    ``elicitation``: ``{"message": …, "requestedSchema": …}``. ``sampling``: ``{"messages": …,
    "maxTokens": …}``. ``roots``: ``{}``.

    Where the protocol has the call made again with the answers, a request that is sent once more brings them
    once more; the answer to a question that is to count ``once`` is asked for again then.
    """

    ability: Ability
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    once: bool = False


class InputRequired(ToolspanError):
    """The call cannot continue without answers to ``questions``, by key; the client repeats it with them.

    Only a ``Client`` raises it, out of ``ask``. The executor lets it pass.
    """

    def __init__(self, questions: Mapping[str, Question]) -> None:
        super().__init__("the call needs the client's answers: " + ", ".join(questions))
        self.questions = dict(questions)


class Client(Protocol):
    """The client of one call.

    Where the protocol has the call made again for every round of questions (MCP 2026-07-28), the tool
    runs again from its start: ``ask`` gives the answers that are there and raises ``InputRequired`` for
    those that are not, and what the tool keeps in ``memory`` (plain JSON) is there again. Everywhere else
    ``ask`` waits for the answers.
    """

    memory: MutableMapping[str, Any]

    def accepts(self, capability: Capability) -> bool:
        """Whether the client declared the capability to answer such questions."""
        ...

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        """The client's answers by the questions' keys, which are unique within the call.

        Raises ``ToolFailure`` when the client cannot answer, or refuses with an error.
        """
        ...

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report ``progress`` of ``total`` (any unit, growing), if the client asked for it (MCP
        ``notifications/progress``)."""
        ...

    async def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Send ``data``, any JSON value, as a log message, if the client wants messages of that level
        (RFC 5424's names)."""
        ...

    async def release(self) -> None:
        """Let go of the connection that the call came by; a client that can fetches the answer later."""
        ...


class ClientWrapper:
    """A client that forwards everything to ``client``; subclasses override what differs."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.memory: MutableMapping[str, Any] = client.memory

    def accepts(self, capability: Capability) -> bool:
        """As the client says."""
        return self._client.accepts(capability)

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        """The client's answers; see ``Client.ask``."""
        return await self._client.ask(questions)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress."""
        await self._client.progress(progress, total, message)

    async def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Pass on a log message."""
        await self._client.log(level, data, logger)

    async def release(self) -> None:
        """Let go of the connection."""
        await self._client.release()


class NullClient:
    """The client of a call that came from no client: it discards notifications and answers no question."""

    def __init__(self) -> None:
        self.memory: MutableMapping[str, Any] = {}

    def accepts(self, capability: Capability) -> bool:
        """Nothing."""
        return False

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        """Raises ``ToolFailure``."""
        raise cannot_answer(next(iter(questions.values())).ability)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Nothing."""

    async def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Nothing."""

    async def release(self) -> None:
        """Nothing."""


def cannot_answer(ability: Ability) -> ToolFailure:
    """The failure of a tool that has to ask a client that cannot answer."""
    return ToolFailure(
        f"The tool has to ask the client, which does not support {ability}",
        error_code="client_cannot_answer",
        user_action=f"Use a client that supports {ability}, or another tool.",
    )
