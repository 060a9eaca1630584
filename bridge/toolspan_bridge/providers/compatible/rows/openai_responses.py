"""OpenAI, Responses alone."""

from ..row import Row

ROW = Row(
    "https://api.openai.com/v1",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "https://platform.openai.com/api-keys",
    limit="max_output_tokens",
    format="openai-responses",
    headers=(("OpenAI-Organization", "OPENAI_ORG_ID"), ("OpenAI-Project", "OPENAI_PROJECT_ID")),
    account="openai",
    batches="openai",
    standard_tier="default",
    counts=True,
)
