"""A local LM Studio server."""

from ..row import Row

ROW = Row(
    "http://127.0.0.1:1234/v1",
    "LMSTUDIO_API_KEY",
    "LMSTUDIO_BASE_URL",
    local="lms server start",
    most_answer=16_384,
)
