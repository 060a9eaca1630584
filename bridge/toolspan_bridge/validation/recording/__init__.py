"""Validations, recorded and replayed: what models answered and tools gave, in a file of lines of JSON.

``Recorder`` writes it while a run goes on, ``Recorded`` is what was read of it, ``Replay`` answers in their
place. What a recording holds, line by line, is with ``file``.
"""

from __future__ import annotations

from .contents import Recorded, RecordedCall, RecordedModel, RecordedServer, RecordedTrial, RecordedTurn
from .links import recording, replaying
from .recorder import Recorder
from .replay import Replay

__all__ = [
    "Recorded",
    "RecordedCall",
    "RecordedModel",
    "RecordedServer",
    "RecordedTrial",
    "RecordedTurn",
    "Recorder",
    "Replay",
    "recording",
    "replaying",
]
