"""The program ``toolspan``, also ``python -P -m toolspan_bridge``."""

from __future__ import annotations

import os
import sys

_INTERRUPTED = 130


def main() -> int:
    """Run the command line and give the exit code: that of Ctrl+C also while its modules are imported."""
    try:
        from .cli import main as run

        return run()
    except KeyboardInterrupt:
        os.write(2, b"interrupted\n")
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
