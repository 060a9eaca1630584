"""Fireworks AI."""

from ..row import Row

ROW = Row(
    "https://api.fireworks.ai/inference/v1",
    "FIREWORKS_API_KEY",
    "FIREWORKS_BASE_URL",
    "https://app.fireworks.ai",
)
