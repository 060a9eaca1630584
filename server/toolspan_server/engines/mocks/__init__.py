"""What the kind ``mock`` can do beyond giving one value: rules, sequences, chance, failures, content blocks;
before the answer it may hold a conversation.

The records are here; ``_script``, which brings them to life, is imported where it is needed, and
``outside``, which does so without a server.
"""

from ._name_checks import unknown_names, uses_client
from ._replies import (
    MockAnswer,
    MockReplies,
    MockReply,
    MockRule,
    RuledReplies,
)

__all__ = [
    "MockAnswer",
    "MockReplies",
    "MockReply",
    "MockRule",
    "RuledReplies",
    "unknown_names",
    "uses_client",
]
