"""OpenAI's Responses, as its clients speak it (``POST /v1/responses``)."""
