"""A process that spends with a virtual key until its budget ends, to be doubled or killed.

``python -m tests.support.budget_spender FOLDER NAME USD``: says ``ready``, waits for a line, then asks again
and again for ``USD``, says ``spent`` after each, and at the end why it was refused.
"""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

from toolspan_bridge.loop.limits.account import Held
from toolspan_bridge.web.keys import KeyRefusal, KeyStore
from toolspan_bridge.web.keys.refusals import RateLimitedError


def main() -> None:
    folder, name, usd = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    with closing(KeyStore(folder)) as store:
        key = store.get(name)
        print("ready", flush=True)
        sys.stdin.readline()
        while True:
            try:
                number = store.ledger.admit(key)
                store.ledger.hold(key, number, Held(1, usd))
            except RateLimitedError:
                continue  # the other one holds the rest
            except KeyRefusal as refusal:
                print(f"refused {refusal.code}", flush=True)
                return
            store.ledger.settle(key, number, Held(1, usd), 1, usd)
            print("spent", flush=True)
            store.ledger.release(number)


if __name__ == "__main__":
    main()
