"""Cohere, by its compatibility API."""

from ....messages.chat_traits import ChatTraits
from ..row import Row

ROW = Row(
    "https://api.cohere.ai/compatibility/v1",
    "COHERE_API_KEY",
    "COHERE_BASE_URL",
    "https://dashboard.cohere.com/api-keys",
    chat=ChatTraits(
        call_ids="named",
        echoed=(),
        echoes_call_state=False,
        stream_usage=False,
        efforts=("none", "high"),
        structured="json_object",
    ),
)
