"""Moonshot AI: Kimi."""

from dataclasses import replace

from ....messages.chat_traits import ChatTraits
from ..row import Row

KIMI = ChatTraits(
    echoed=("reasoning_content",),
    echoes_text_turns=True,
    echoes_call_state=False,
    demanded="reasoning_content",
    effort="thinking",
    efforts=(),
    structured="json_object",
    cache_key=True,
    forces_calls=False,
)
ROW = Row(
    "https://api.moonshot.ai/v1",
    "MOONSHOT_API_KEY",
    "MOONSHOT_BASE_URL",
    "https://platform.moonshot.ai/console/api-keys",
    chat=KIMI,
    chat_of=(("kimi-k3.*", replace(KIMI, effort="reasoning_effort", efforts=("low", "high"))),),
)
