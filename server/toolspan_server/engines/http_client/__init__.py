"""Requests to other hosts, made with care: which addresses, how long, how large, how often again.

Nothing here imports an HTTP library until the first request is made.
"""

from __future__ import annotations

from ._answer import HttpResponse
from ._outgoing import HttpClient, Policy
from ._request import Request

__all__ = ["HttpClient", "HttpResponse", "Policy", "Request"]
