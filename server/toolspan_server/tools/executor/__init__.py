"""The executor: runs a tool by name and always ends in a tool result.

A call goes through these steps from the outside in, and its result back; approve, cache, rate
limit, output and share are there only for tools that ask for them, or depend on something:

    validate    the arguments fit the parameters: nothing after it sees any that do not
    approve     a person allows the call, kept results too; waiting for them is not the tool's time
    time out    everything below ends in time, the work on the result too
    cache       an equal call's result, which does not count for the rate limit
    rate limit  the tool runs not too often
    output      the result, as it will be sent, fits the output schema
    sanitise    the result is plain JSON without secrets, not too large
    share       what hangs takes no more than its share of the calls that run
"""

from __future__ import annotations

from ._execute import Executor
from ._shares import ShareLimits

__all__ = ["Executor", "ShareLimits"]
