"""What the requests of a question begin with: the system prompt and the tools.

Providers keep the beginning of a conversation's requests, and some bind the model's thoughts to it. So it
stays what it was first: another system prompt comes as a message, further tools come after the others, and a
tool that a question does not allow stays in the list and is refused when it is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..conversation import Beginning, Conversation
from ..formats.names import NameTable
from ..messages import Message, ToolSpec, User
from ._question import Question
from ._tool_search import SEARCH, best

_INSTRUCTIONS = "From here on these instructions hold instead of all earlier ones:\n\n{}"
_SHOWN = 300
_LEAST = 2
"""The search tool, and one that was found."""
_NO_INSTRUCTIONS = "From here on the earlier instructions no longer hold."


class Offer:
    """The beginning of the requests of ``question`` to ``model`` (``provider/model``) in ``conversation``.

    ``known`` are the tools of all servers. ``allowed`` are the keys of those that may be called. Beyond
    ``limit`` tools there is a search tool, and those that were found or called.
    """

    def __init__(
        self,
        question: Question,
        conversation: Conversation,
        model: str,
        known: Sequence[ToolSpec],
        limit: int | None = None,
    ) -> None:
        self._conversation = conversation
        self._model = model
        self._question = question
        self._known = known
        names = question.allowed_tools
        wanted = tuple(tool for tool in known if names is None or tool.name in names)
        self._wanted = wanted
        self._limit = limit
        returned = question.returned_tools
        self.returned = frozenset(tool.key for tool in returned)
        """The keys of the caller's own tools, whose calls are not made here."""
        self.only_returns = bool(returned) and not wanted and question.tool_choice != "none"
        """Whether all tools are the caller's own: it gets a call of an unknown tool too."""
        self.searches = limit is not None and len(wanted) + len(returned) > limit
        """Whether not all tools are in the requests."""
        chosen = tuple(tool for tool in wanted if tool.key == question.tool_choice)
        listed = (*((SEARCH, *chosen) if self.searches else wanted), *returned)
        callable_ = () if question.tool_choice == "none" else (*wanted, *listed)
        self.allowed = frozenset(tool.key for tool in callable_)
        kept = conversation.beginnings.get(model)
        self._beginning = Beginning(question.system, listed) if kept is None else _grown(kept, listed)

    @property
    def conversation(self) -> str:
        """The id of the conversation."""
        return self._conversation.id

    @property
    def system(self) -> str:
        """The system prompt of the requests."""
        return self._beginning.system

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools of the requests, also those that may not be called now."""
        return self._beginning.tools

    @property
    def allows_nothing(self) -> bool:
        """Whether there are tools of which none may be called."""
        return bool(self.tools) and not self.allowed

    def search(self, query: str) -> dict[str, Any]:
        """Find tools and offer them: ``{"tools": [{"name", "description"}]}``, with a ``note`` if need be."""
        found = best(query, self._wanted)
        offered = [tool for tool in found if self.add(tool)]
        names = NameTable.of(self.tools)
        shown: dict[str, Any] = {
            "tools": [
                {"name": names.wire(tool), "description": tool.description[:_SHOWN]} for tool in offered
            ]
        }
        if not found:
            servers = ", ".join(sorted({tool.server for tool in self._wanted}))
            shown["note"] = f"None of the {len(self._wanted)} tools ({servers}) fits: try other words."
        elif len(offered) < len(found):
            shown["note"] = "No further tool can be offered in this conversation: use those that there are."
        return shown

    def follow(self, known: Sequence[ToolSpec]) -> None:
        """Offer further tools too that servers have come to have. What is offered stays."""
        if known is self._known:
            return
        names = self._question.allowed_tools
        before = {tool.key for tool in self._known}
        self._known = known
        self._wanted = tuple(tool for tool in known if names is None or tool.name in names)
        new = [tool for tool in self._wanted if tool.key not in before]
        self.allowed |= {tool.key for tool in new}
        for tool in () if self.searches else new:
            self.add(tool)

    def add(self, tool: ToolSpec) -> bool:
        """Offer ``tool`` from the next request on; returns whether it is among the offered ones."""
        if tool.key in {each.key for each in self.tools}:
            return True
        if self._limit is not None and len(self.tools) >= max(self._limit, _LEAST):
            return False
        self._beginning = _grown(self._beginning, (tool,))
        return True

    def allow(self, tool: ToolSpec) -> bool:
        """Offer ``tool`` from the next request on, and let it be called; returns whether it is offered."""
        question = self._question
        if question.allowed_tools == () or question.tool_choice == "none" or not self.add(tool):
            return False
        self.allowed |= {tool.key}
        return True

    def messages(self) -> list[Message]:
        """The question, if it does not resume, after a message with its system prompt where the conversation
        has another one."""
        asked: list[Message] = [] if self._question.resumes else [self._question.asked]
        wanted, told = self._question.system, self._conversation.instructions
        if wanted == (self.system if told is None else told):
            return asked
        return [User(_INSTRUCTIONS.format(wanted) if wanted else _NO_INSTRUCTIONS, typed=""), *asked]

    def keep(self) -> None:
        """Note in the conversation what the provider was sent."""
        conversation = self._conversation
        if conversation.instructions is not None or self._question.system != self.system:
            conversation.instructions = self._question.system
        conversation.beginnings[self._model] = self._beginning

    def notices(self) -> Iterator[str]:
        """What differs from the tools as they are now."""
        now = {tool.key: tool for tool in self._known}
        for tool in self.tools:
            current = now.get(tool.key)
            if current is None or current is tool:
                continue
            if replace(current, late=tool.late) != tool:
                yield (
                    f"The definition of {tool.name} has changed since the conversation began: "
                    "the model sees the earlier one until its tools are refreshed"
                )


def _grown(kept: Beginning, wanted: Sequence[ToolSpec]) -> Beginning:
    """``kept``, and after its tools those of ``wanted`` that it lacks."""
    known = {tool.key for tool in kept.tools}
    late = 1 + max((tool.late for tool in kept.tools), default=0)
    further = tuple(replace(tool, late=late) for tool in wanted if tool.key not in known)
    return replace(kept, tools=(*kept.tools, *further)) if further else kept
