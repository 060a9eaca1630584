"""What the kind ``mock`` can do beyond giving one value: rules, sequences, chance, failures, content blocks,
and steps before the answer, in which it reports progress, logs, asks the client and waits.

The records are here; ``_live`` and ``_conversation``, which bring them to life, are imported where they are
needed.
"""

from ._names import unknown_names, uses_client
from ._replies import MockAnswer, MockReplies, MockReply, MockRule
from ._steps import MockQuestion, MockStep

__all__ = [
    "MockAnswer",
    "MockQuestion",
    "MockReplies",
    "MockReply",
    "MockRule",
    "MockStep",
    "unknown_names",
    "uses_client",
]
