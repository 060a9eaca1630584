"""What is done before an answer is given: progress and log messages, questions to the client, waiting.

The ``steps`` of a mock and of a prompt are ``MockStep`` records; a ``MockSteps`` takes them within a
``MockCall``, one call, whose ``scope`` is what templates and conditions see.
"""

from ._mock_call import RESERVED, MockCall
from ._runner import MockSteps
from ._steps import MockQuestion, MockStep

__all__ = ["RESERVED", "MockCall", "MockQuestion", "MockStep", "MockSteps"]
