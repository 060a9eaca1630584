"""Anthropic's Messages, as its clients speak it (``POST /v1/messages`` and ``/v1/messages/count_tokens``)."""
