"""What the requests of a question hold: its messages, its tools or a search for them, and built-in tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..conversation import Conversation
from ..formats import builtin_names, defers_tools, max_tools
from ..messages import Message, Request, ToolSpec
from ._offer import Offer
from ._question import Question


class Requests:
    """The requests of ``question`` in the format ``format_name``; one without a name has no built-in tools,
    no limit and no search. ``searches_tools``: the provider has the search of the format."""

    def __init__(self, question: Question, format_name: str, *, searches_tools: bool = True) -> None:
        self._question = question
        self._defers = searches_tools and bool(format_name) and defers_tools(format_name, question.model)
        self.known_builtins = builtin_names(format_name)
        self.most_tools = most_tools(question.tools_offered, format_name)
        """The most tools that are sent at once; ``None`` where all are."""

    @property
    def listed_tools(self) -> int | None:
        """The most tools that requests may list; ``None`` for all, also where the provider searches them."""
        return None if self._defers else self.most_tools

    def request(
        self,
        offer: Offer,
        messages: Sequence[Message],
        *,
        closing: bool,
        first: bool = False,
        conversation: str = "",
    ) -> Request:
        """The request that continues with ``messages`` of the ``conversation`` of that id; in the ``closing``
        turn no tool may be called, in the ``first`` one as the question chooses."""
        builtins = tuple(name for name in self._question.builtins if name in self.known_builtins)
        request = self._question.request(messages, offer.tools, builtins, closing=closing)
        choice = self._question.tool_choice if first and offer.tools else request.tool_choice
        return replace(
            request,
            system=offer.system,
            tool_choice="none" if closing or offer.allows_nothing else choice,
            defer_tools=self._question.tools_offered if self._defers else request.defer_tools,
            conversation=conversation,
        )


def first_request(
    question: Question,
    format_name: str,
    tools: Sequence[ToolSpec],
    *,
    searches_tools: bool = True,
    conversation: Conversation | None = None,
) -> Request:
    """The request that ``question`` begins with, in a new conversation or after the messages of
    ``conversation``, where there are ``tools``: of more than are sent at once it lists a search only, unless
    the provider searches itself: ``searches_tools`` says whether it has the search of its format."""
    conversation = conversation or Conversation()
    requests = Requests(question, format_name, searches_tools=searches_tools)
    offer = Offer(question, conversation, question.model, tools, requests.listed_tools)
    return requests.request(offer, [*conversation.messages, *offer.messages()], closing=False)


def most_tools(offered: int | None, format_name: str) -> int | None:
    """The most tools that are sent at once where a config lets ``offered`` be, and by ``format_name``."""
    limits = (offered, max_tools(format_name) if format_name else None)
    return min((limit for limit in limits if limit is not None), default=None)
