"""OpenAI, Chat Completions alone."""

from ....messages.chat_traits import OPENAI
from ..row import Row

ROW = Row(
    "https://api.openai.com/v1",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "https://platform.openai.com/api-keys",
    limit="max_completion_tokens",
    headers=(("OpenAI-Organization", "OPENAI_ORG_ID"), ("OpenAI-Project", "OPENAI_PROJECT_ID")),
    account="openai",
    chat=OPENAI,
    batches="openai",
    standard_tier="default",
)
