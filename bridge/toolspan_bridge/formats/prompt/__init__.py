"""Tools in the system prompt and calls in the text, for models without native tool calling.

The messages are Chat Completions; ``get_format("prompt:ollama")`` is the same over another format's messages.
"""

from __future__ import annotations

from .. import openai
from .prompted import Prompted

_FORMAT = Prompted(openai, "openai")

BUILTINS = _FORMAT.BUILTINS
render_tools = _FORMAT.render_tools
render_request = _FORMAT.render_request
parse_reply = _FORMAT.parse_reply
parse_stream = _FORMAT.parse_stream
parse_error = _FORMAT.parse_error
losses = _FORMAT.losses
restore = _FORMAT.restore
