"""OpenRouter."""

from ..row import Row

ROW = Row(
    "https://openrouter.ai/api/v1",
    "OPENROUTER_API_KEY",
    "OPENROUTER_BASE_URL",
    "https://openrouter.ai/keys",
)
