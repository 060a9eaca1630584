"""An MCP server over stdio that speaks ever more nonsense: ``python babbler.py SEED``.

Each answer is right, or changed somewhere, in its JSON or its bytes; between them comes whatever a server may
send, and what none may. The same seed says the same.
"""

from __future__ import annotations

import json
import os
import random
import sys
from typing import Any

from flooder import tools_of

ODD: list[Any] = [None, True, -1, 1e308, 2**70, "", "\x00", "x" * 10_000, [], {}, [[[[]]]], {"": None}]
METHODS = ["ping", "sampling/createMessage", "elicitation/create", "roots/list", "tools/list", "", "no/such"]
NOTICES = ["cancelled", "progress", "message", "tools/list_changed", "initialized", "resources/updated", "x"]
LINES = [b"\n", b"\r\n\r\n", b"\x00\n", b"\xff\xfe\n", b"{}\n", b"[]\n", b"{\n", b"[" * 9_000 + b"\n"]


class Babbler:
    """Says something to each line that it reads."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.last_id: Any = 0

    def heard(self, line: bytes) -> bytes:
        request = json.loads(line)
        if "method" not in request or "id" not in request:
            return self.between()
        self.last_id = request["id"]
        if request["method"] == "tools/call":
            answer: dict[str, Any] = {"result": {"content": [{"type": "text", "text": "x"}]}}
        else:
            answer = tools_of(request)
            if self.random.random() < 0.9:  # else it would hardly ever come to a call
                return json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}).encode() + b"\n"
        said = self.written({"jsonrpc": "2.0", "id": request["id"], **answer})
        return self.between() + said + self.between()

    def written(self, message: Any) -> bytes:
        """``message`` on a line, right in two cases of three."""
        kind = self.random.randrange(9)
        if kind == 0:
            message = self.changed(message)
        line = json.dumps(message).encode() + b"\n"
        if kind == 1:
            place = self.random.randrange(len(line))
            line = line[:place] + self.random.randbytes(self.random.randrange(3)) + line[place + 1 :]
        return b"" if kind == 2 else line

    def changed(self, value: Any) -> Any:
        """``value`` with something else at one place."""
        if isinstance(value, dict) and value and self.random.random() < 0.8:
            key = self.random.choice(list(value))
            return {**value, key: self.changed(value[key])}
        if isinstance(value, list) and value and self.random.random() < 0.8:
            return [self.changed(value[0]), *value]
        return self.random.choice(ODD)

    def between(self) -> bytes:
        """What nobody asked for."""
        said = b""
        while self.random.random() < 0.5:
            odd = {"params": self.random.choice([{}, {"requestId": self.last_id}, *ODD])}
            made = self.random.randrange(4)
            if made == 0:
                method = self.random.choice(METHODS)
                said += self.written({"jsonrpc": "2.0", "id": "q", "method": method, **odd})
            elif made == 1:
                method = f"notifications/{self.random.choice(NOTICES)}"
                said += self.written({"jsonrpc": "2.0", "method": method, **odd})
            elif made == 2:
                wrong = self.random.choice([7, "7", *ODD])
                said += self.written({"jsonrpc": "2.0", "id": wrong, "result": {}})
            else:
                said += self.random.choice(LINES)
        return said


if __name__ == "__main__":
    babbler = Babbler(int(sys.argv[1]))
    for line in sys.stdin.buffer:
        os.write(1, babbler.heard(line))
        if babbler.random.random() < 0.02:
            sys.exit(9)
