"""How much conversations may hold, and how many may go on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConversationLimits:
    """The most ``running`` questions in all and those of one principal (``own_running``); conversations of
    one principal (``own``); ``followers`` of a conversation; its ``events`` that are kept to be sent again,
    and their characters (``event_characters``); characters of a question (``text``); conversations whose
    events are kept while nothing runs in them (``remembered``)."""

    running: int = 128
    own_running: int = 16
    own: int = 10_000
    followers: int = 32
    events: int = 20_000
    event_characters: int = 8_000_000
    text: int = 1_000_000
    remembered: int = 500
