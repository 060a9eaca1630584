"""The executor: runs a tool by name and always ends in a tool result.

A call goes through these steps from the outside in, and its result back; all but the first and the last
two are there only for tools that ask for them:

    validate    the arguments fit the parameters: nothing after it sees any that do not
    approve     a person allows the call, kept results too; waiting for them is not the tool's time
    cache       an equal call's result, which does not count for the rate limit
    rate limit  the tool runs not too often
    output      the result, as it will be sent, fits the output schema
    sanitise    the result is plain JSON without secrets, not too large
    time out    the kind's own work ends in time
"""

from __future__ import annotations

from ._execute import Executor

__all__ = ["Executor"]
