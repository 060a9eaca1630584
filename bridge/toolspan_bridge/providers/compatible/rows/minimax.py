"""MiniMax."""

from ....chat_traits import ChatTraits
from ..row import Row

ROW = Row(
    "https://api.minimax.io/v1",
    "MINIMAX_API_KEY",
    "MINIMAX_BASE_URL",
    "https://platform.minimax.io/user-center/basic-information/interface-key",
    limit="max_completion_tokens",
    chat=ChatTraits(echoes_text_turns=True, effort="", structured=""),
)
