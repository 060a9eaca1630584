"""``toolspan doctor``: is everything there that Toolspan needs here, and what to do where it is not?

A check is a module of ``checks`` with ``ORDER``, its place in the report, and ``async def check(around:
Surroundings) -> list[Finding]``. It sends nothing that a person did not allow, and shows no secret; what it
raises as a ``BridgeError`` is a problem in the report.
"""
