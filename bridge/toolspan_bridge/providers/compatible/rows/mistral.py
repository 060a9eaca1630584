"""Mistral AI."""

from ..row import Row

ROW = Row(
    "https://api.mistral.ai/v1",
    "MISTRAL_API_KEY",
    "MISTRAL_BASE_URL",
    "https://console.mistral.ai/api-keys",
)
