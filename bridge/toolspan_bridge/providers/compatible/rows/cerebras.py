"""Cerebras."""

from ....messages.chat_traits import ChatTraits
from ..row import Row

ROW = Row(
    "https://api.cerebras.ai/v1",
    "CEREBRAS_API_KEY",
    "CEREBRAS_BASE_URL",
    "https://cloud.cerebras.ai",
    limit="max_completion_tokens",
    chat=ChatTraits(call_ids="named", echoed=("reasoning",), effort=""),
    chat_of=(
        ("gpt-oss.*", ChatTraits(call_ids="named", echoed=("reasoning",), efforts=("low", "medium", "high"))),
        ("zai-glm.*", ChatTraits(call_ids="named", echoed=("reasoning",), efforts=("none",))),
    ),
)
