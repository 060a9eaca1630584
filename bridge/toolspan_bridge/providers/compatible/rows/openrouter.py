"""OpenRouter."""

from ....messages.chat_traits import ChatTraits
from ..row import Row

ROW = Row(
    "https://openrouter.ai/api/v1",
    "OPENROUTER_API_KEY",
    "OPENROUTER_BASE_URL",
    "https://openrouter.ai/keys",
    caps_price=True,
    chat=ChatTraits(
        echoes_text_turns=True, effort="reasoning", efforts=("none", "minimal", "low", "medium", "high")
    ),
)
