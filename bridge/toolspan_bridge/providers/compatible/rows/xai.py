"""xAI."""

from ....messages.chat_traits import ChatTraits
from ..row import Row

ROW = Row(
    "https://api.x.ai/v1",
    "XAI_API_KEY",
    "XAI_BASE_URL",
    "https://console.x.ai",
    chat=ChatTraits(call_ids="named", effort=""),
    chat_of=(
        ("grok-3-mini.*", ChatTraits(call_ids="named", efforts=("low", "high"))),
        ("grok-4\\.[3-9].*", ChatTraits(call_ids="named")),
    ),
)
