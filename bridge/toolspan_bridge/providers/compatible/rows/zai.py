"""Z.ai: GLM."""

from ....messages.chat_traits import ChatTraits
from ..row import Row

ROW = Row(
    "https://api.z.ai/api/paas/v4",
    "ZAI_API_KEY",
    "ZAI_BASE_URL",
    "https://z.ai/manage-apikey/apikey-list",
    chat=ChatTraits(
        call_ids="named",
        echoed=("reasoning_content",),
        echoes_text_turns=True,
        echoes_call_state=False,
        effort="thinking",
        efforts=(),
        structured="json_object",
        stream_usage=False,
        forces_calls=False,
    ),
)
