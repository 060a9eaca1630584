"""What the kind ``mock`` can do beyond giving one value: rules, sequences, chance, failures, content blocks;
before the answer it may hold a conversation.

The records are here; ``_live``, which brings them to life, is imported where it is needed.
"""

from ._name_checks import unknown_names, uses_client
from ._replies import (
    MockAnswer,
    MockReplies,
    MockReply,
    MockRule,
)

__all__ = [
    "MockAnswer",
    "MockReplies",
    "MockReply",
    "MockRule",
    "unknown_names",
    "uses_client",
]
