"""A local llama.cpp server."""

from ..row import Row

ROW = Row(
    "http://127.0.0.1:8080/v1",
    "LLAMACPP_API_KEY",
    "LLAMACPP_BASE_URL",
    local="llama-server --jinja",
    most_answer=16_384,
    context_at="/props",
)
