"""OpenAI's Chat Completions, as its clients speak it (``POST /v1/chat/completions``)."""
