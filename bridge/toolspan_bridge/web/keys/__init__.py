"""Virtual keys of the gateway: who may ask which models, how fast, and for how much money.

``VirtualKeys`` is what a request goes through: ``authenticate`` its key, then ask within ``admitted``.
Refusals are exceptions with a code and an HTTP status; each API writes them in its own shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .admission import Admission, VirtualKeys
    from .refusals import KeyRefusal
    from .store import KEYS_FILE, KeyStore
    from .virtual_key import KeyLimits, VirtualKey

__all__ = [
    "KEYS_FILE",
    "Admission",
    "KeyLimits",
    "KeyRefusal",
    "KeyStore",
    "VirtualKey",
    "VirtualKeys",
]

_MODULES = {
    "KEYS_FILE": ".store",
    "Admission": ".admission",
    "KeyLimits": ".virtual_key",
    "KeyRefusal": ".refusals",
    "KeyStore": ".store",
    "VirtualKey": ".virtual_key",
    "VirtualKeys": ".admission",
}

if not TYPE_CHECKING:
    from toolspan_server.common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
