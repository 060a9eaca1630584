"""What is done before an answer is given: progress and log messages, questions to the client, waiting.

The ``steps`` of a mock and of a prompt are ``MockStep`` records; a ``MockSteps`` takes them within a
``MockCall``, one call, whose ``scope`` is what templates and conditions see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._mock_call import RESERVED, MockCall
from ._steps import MockQuestion, MockStep

if TYPE_CHECKING:
    from ._runner import MockSteps

__all__ = ["RESERVED", "MockCall", "MockQuestion", "MockStep", "MockSteps"]

# Steps that wait need the event loop; a mock that only answers does not.
if not TYPE_CHECKING:
    from ...common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, {"MockSteps": "._runner"})
