"""The conversations of the leaderboard (``multi_turn_*``), performed and judged by its own programs, which
the user installs: their Python stands in ``$TOOLSPAN_BFCL_PYTHON`` where it is another than ours."""

from __future__ import annotations

from .asked import ConversationScenario, conversation_scenario
from .conversations import ConversationCase
from .programs import PYTHON_VARIABLE, Installed, installed_programs
from .reading import CONVERSATIONS, conversation_of

__all__ = [
    "CONVERSATIONS",
    "PYTHON_VARIABLE",
    "ConversationCase",
    "ConversationScenario",
    "Installed",
    "conversation_of",
    "conversation_scenario",
    "installed_programs",
]
