"""DeepSeek."""

from ....messages.chat_traits import ChatTraits
from ..row import Row

ROW = Row(
    "https://api.deepseek.com/v1",
    "DEEPSEEK_API_KEY",
    "DEEPSEEK_BASE_URL",
    "https://platform.deepseek.com/api_keys",
    chat=ChatTraits(
        call_ids="named",
        echoed=("reasoning_content",),
        echoes_text_turns=True,
        echoes_call_state=False,
        demanded="reasoning_content",
        effort="thinking",
        efforts=("low", "high"),
        structured="json_object",
        forces_calls=False,
    ),
)
