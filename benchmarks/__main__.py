"""``python -m benchmarks`` (and ``make bench``)."""

from __future__ import annotations

from benchmarks.calls import main

if __name__ == "__main__":
    main()
