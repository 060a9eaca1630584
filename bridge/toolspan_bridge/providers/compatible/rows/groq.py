"""Groq."""

from ....messages.chat_traits import ChatTraits
from ..row import Row

ROW = Row(
    "https://api.groq.com/openai/v1",
    "GROQ_API_KEY",
    "GROQ_BASE_URL",
    "https://console.groq.com/keys",
    limit="max_completion_tokens",
    chat=ChatTraits(echoed=("reasoning",), effort="", structured="json_object"),
    chat_of=(
        ("openai/gpt-oss.*", ChatTraits(echoed=("reasoning",), efforts=("low", "medium", "high"))),
        ("qwen/.*", ChatTraits(echoed=("reasoning",), efforts=("none",), structured="json_object")),
    ),
)
