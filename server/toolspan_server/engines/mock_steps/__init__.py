"""What is done before an answer is given: progress and log messages, questions to the client, waiting.

The ``steps`` of a mock and of a prompt are ``MockStep`` records; a ``MockSteps`` takes them within a
``Turn``, one call, whose ``scope`` is what templates and conditions see.
"""

from ._mock_call import RESERVED, Turn
from ._runner import MockSteps
from ._steps import MockQuestion, MockStep

__all__ = ["RESERVED", "MockQuestion", "MockStep", "MockSteps", "Turn"]
