"""Hugging Face Inference Providers."""

from ....messages.chat_traits import ChatTraits
from ..row import Row

ROW = Row(
    "https://router.huggingface.co/v1",
    "HF_TOKEN",
    "HUGGINGFACE_BASE_URL",
    "https://huggingface.co/settings/tokens",
    chat=ChatTraits(structured=""),
)
