"""HTTP/1.1 straight to a provider's server, for ``httpx2``: connections that stay open.

``httpcore2``, which ``httpx2`` uses otherwise, looks at every connection for each request, and took half the
processor time of a run that asks much at once (``python -m benchmarks.trials``).
"""

from .transport import DirectTransport

__all__ = ["DirectTransport"]
