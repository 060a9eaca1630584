"""Requests to other hosts, made with care: which addresses, how long, how large, how often again.

Nothing here imports an HTTP library until the first request is made.
"""

from __future__ import annotations

from ._client import HttpClient, Policy
from ._hosts import Hosts, url_problem
from ._request import Request
from ._response import HttpResponse

__all__ = ["Hosts", "HttpClient", "HttpResponse", "Policy", "Request", "url_problem"]
