"""MiniMax.

Without ``reasoning_split`` its models write their thoughts into the text, in ``<think>`` tags, and want them
back there; with it they come, and go back, as ``reasoning_details`` (platform.minimax.io, "Tool Use &
Interleaved Thinking", read in November 2026).
"""

from dataclasses import replace

from ....messages.chat_traits import USUAL, ChatTraits
from ..row import Row

PLAIN = ChatTraits(
    call_ids="named", echoed=(*USUAL.echoed, "content"), echoes_text_turns=True, effort="", structured=""
)
ROW = Row(
    "https://api.minimax.io/v1",
    "MINIMAX_API_KEY",
    "MINIMAX_BASE_URL",
    "https://platform.minimax.io/user-center/basic-information/interface-key",
    limit="max_completion_tokens",
    chat=PLAIN,
    chat_of=((r"MiniMax-M\d.*", replace(PLAIN, splits_thoughts="reasoning_split")),),
)
