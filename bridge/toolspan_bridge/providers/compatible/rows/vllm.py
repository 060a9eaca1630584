"""A local vLLM server."""

from ..row import Row

ROW = Row(
    "http://127.0.0.1:8000/v1",
    "VLLM_API_KEY",
    "VLLM_BASE_URL",
    local="vllm serve MODEL",
    most_answer=16_384,
)
