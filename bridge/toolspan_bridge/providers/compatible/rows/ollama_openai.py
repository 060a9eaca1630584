"""A local Ollama server, by its OpenAI-compatible API."""

from ..row import Row

ROW = Row(
    "http://127.0.0.1:11434/v1",
    "OLLAMA_API_KEY",
    "OLLAMA_OPENAI_BASE_URL",
    local="ollama serve",
    host="OLLAMA_HOST",
    most_answer=16_384,
)
