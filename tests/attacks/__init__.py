"""Attacks on a running server: ``make attack``, or ``python -m tests.attacks [NAME …]`` for some of them.

Each module of ``scripts`` is one attack: what it does to a real server over HTTP, and what that may cost.
While it runs, a second, well-behaved client calls a tool every 50 ms. The table shows, for each attack, the
server's memory before, at its highest and after, its descriptors before and after, and the second client's
slowest call. It is a failure when an answer is wrong, when the server or its second client is lost, when
memory grows by more than the attack may cost, when descriptors do not come back, or when the second client
waits for seconds.

An attack is one file, found by its being there:

    from ..attack import Attack, Target

    def run(target: Target) -> None:
        assert b" 400 " in target.server.exchange(b"CONNECT x HTTP/1.1\\r\\n\\r\\n")

    ATTACK = Attack("I9.1.2", "CONNECT in every form", run)
"""
