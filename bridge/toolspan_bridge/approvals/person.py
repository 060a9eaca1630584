"""The person who is asked about a call, and what they are shown of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from .definition import Departure, definition_diff, definition_of
from .patterns import Pattern
from .request import Approval, ApprovalRequest

if TYPE_CHECKING:
    from toolspan_server.engines.definitions.call_preview import CallPreview


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """The answer of a person; ``pattern`` says which calls, where its scope is ``pattern``."""

    approval: Approval
    pattern: Pattern | None = None


@dataclass(frozen=True, slots=True)
class EditedCall:
    """The person wants the call to be made with other ``arguments``: they are asked again, about that one."""

    arguments: Mapping[str, Any]


class Person(Protocol):
    """Somebody who can be asked."""

    async def ask(self, request: ApprovalRequest, departure: Departure | None) -> PersonAnswer | EditedCall:
        """The answer to ``request``, which has its preview. ``departure`` is how the tool's definition
        differs from one that the person knows. Cancelling the question is a no."""
        ...


def question_of(
    request: ApprovalRequest, departure: Departure | None, warnings: Sequence[str] = ()
) -> CallPreview:
    """All that a person is shown of ``request``, the same everywhere: which tool of which server, why it is
    asked about, ``warnings``, the call as it will run, and how the definition differs."""
    from toolspan_server.engines.definitions.call_preview import Section, plain_preview

    title = f"{request.tool.name} of the server {request.server!r} needs approval: {request.reason}"
    preview = request.preview or plain_preview(request.arguments)
    if departure is None:
        return preview.headed(title, request.facts, warnings)
    change = "has changed since" if departure.before is not None else "was not there when"
    changed = f"the definition of the tool {change} {departure.since}"
    diff = "\n".join(definition_diff(departure.before, definition_of(request.tool)))
    if not diff:
        changed = f"what the config says of the tool or its server {change} {departure.since}"
        return preview.headed(title, request.facts, (*warnings, changed))
    with_diff = preview.with_sections([Section("diff", changed, diff)])
    return with_diff.headed(title, request.facts, (*warnings, f"{changed}: see below"))
