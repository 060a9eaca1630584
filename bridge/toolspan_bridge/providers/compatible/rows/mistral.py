"""Mistral AI."""

from ....messages.chat_traits import ChatTraits
from ..row import Row

ROW = Row(
    "https://api.mistral.ai/v1",
    "MISTRAL_API_KEY",
    "MISTRAL_BASE_URL",
    "https://console.mistral.ai/api-keys",
    chat=ChatTraits(
        echoed=("content",),
        echoes_text_turns=True,
        echoes_call_state=False,
        stream_usage=False,
        user_after_tool=False,
        call_ids="short",
        efforts=("none", "high"),
        cache_key=True,
        refused=frozenset(
            {"logit_bias", "min_p", "repetition_penalty", "service_tier", "top_k", "user", "verbosity"}
        ),
        seed="random_seed",
    ),
)
