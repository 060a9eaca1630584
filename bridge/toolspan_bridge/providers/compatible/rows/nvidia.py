"""NVIDIA NIM."""

from ....messages.chat_traits import ChatTraits
from ..row import Row

ROW = Row(
    "https://integrate.api.nvidia.com/v1",
    "NVIDIA_API_KEY",
    "NVIDIA_BASE_URL",
    "https://build.nvidia.com",
    chat=ChatTraits(structured=""),
)
