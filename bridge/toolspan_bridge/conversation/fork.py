"""A copy of a conversation, to be gone on with another way."""

from __future__ import annotations

from ..messages import User
from .conversation import Conversation
from .questions import first_questions


def forked(original: Conversation, questions: int | None = None) -> Conversation:
    """A conversation with an id of its own and the messages of the first ``questions`` (all by default).

    Its requests begin as those of the original. What the original has cost is not its own. Raises
    ``UsageError`` when there are not so many.
    """
    copy = Conversation()
    whole = original.messages
    copy.messages = list(whole) if questions is None else first_questions(whole, questions)
    copy.beginnings = dict(original.beginnings)
    told = original.instructions
    if told is not None and any(told in each.text for each in copy.messages if isinstance(each, User)):
        copy.instructions = told
    copy.plan_mode = original.plan_mode
    copy.inherited = original.inherited
    copy.is_agents = original.is_agents
    copy.settings = original.settings
    copy.modes = dict(original.modes)
    copy.told = set(original.told)
    if original.summary is not None and original.summary.messages <= len(copy.messages):
        copy.summary = original.summary
    return copy
