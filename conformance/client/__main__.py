"""``python -m conformance.client URL``: what the suite starts for each scenario.

It connects the toolbox to the server at URL and calls each tool that is listed, or those that the scenario
asks for (``MCP_CONFORMANCE_CONTEXT``). The person at the browser says yes to everything. Ends with 1 when the
server could not be used, or a call failed.
"""

from __future__ import annotations

import sys

from .scenario import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[-1]))
