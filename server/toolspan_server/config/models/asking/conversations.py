"""``conversations``: what the bridge keeps of the conversations of ask and chat."""

from __future__ import annotations

from typing import Annotated

from ....schema.constraints import Limits
from ....schema.records import Record, key

_Bytes = Annotated[int, Limits(65_536, 1024**4)]
_Days = Annotated[int, Limits(1, 36_500)]


class ConversationsConfig(Record):
    """How the conversations of ask and chat are kept, in the folder conversations of the state folder."""

    save: bool = key("Whether they are saved as they happen; --no-save saves one not.", default=True)
    max_bytes: _Bytes = key(
        "Largest conversation, in bytes: what comes after that is not saved, and it is said.",
        default=67_108_864,
    )
    keep_days: _Days | None = key(
        "For how many days a conversation is kept after it was last gone on with; null is for ever.",
        default=90,
    )
    keep_bytes: _Bytes | None = key(
        "For how many bytes in all conversations are kept: of more, the oldest are removed; null is for all.",
        default=1_073_741_824,
    )
    user_bytes: _Bytes | None = key(
        "Most that the conversations of one user of ui and gateway take together, in bytes, each file in"
        " steps of 4 KiB: beyond that, none is begun, copied or gone on with until some are deleted; null"
        " is for no limit.",
        default=2_147_483_648,
    )
