"""A fuzzer of the stdio server: lines right and wrong, whole and in parts, in any order.

Every line owes exactly one answer, or none; ``TOOLSPAN_FUZZ_SECONDS`` makes it go on for so long.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from typing_extensions import override

from tests.support.served import INITIALIZE, INITIALIZED, MODERN_META, StdioServer, call, write_config

pytestmark = pytest.mark.long

SECONDS = float(os.environ.get("TOOLSPAN_FUZZ_SECONDS", "0"))
NAMELESS = (
    b"rubbish",
    b"\x00",
    b"\xff\xfe",
    b"[]",
    b"5",
    b"[" * 100_000,
    b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    b"x" * 70_000,
)
"""Lines that owe an error without an id."""
SILENT = (
    b"",
    b"  \r",
    json.dumps(INITIALIZED).encode(),
    b'{"jsonrpc":"2.0","method":"no/such"}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
    b'{"jsonrpc":"2.0","id":"nobody","result":{}}',
)
"""Lines that owe nothing."""
BROKEN = (
    b'{"id":%d,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":%d,"method":7}',
    b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":[]}',
    b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":NaN}}',
    b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":"\\ud800"}}',
    b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":"\xc3"}}',
    b'{"jsonrpc":"2.0","id":%d,"method":"no/such"}',
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"nothing","arguments":7}}',
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{"cursor":"no"}}',
    b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":"' + b"y" * 70_000 + b'"}}',
)
"""Lines that owe an error to their id."""


class StdioMachine(RuleBasedStateMachine):
    """What a client writes, and what must come back whatever it writes."""

    config: Path

    def __init__(self) -> None:
        super().__init__()
        self.server = StdioServer(self.config)
        self.number = 0
        self.owed: Counter[int | str | None] = Counter()
        self.cancelled: set[int | str | None] = set()
        self.got: Counter[int | str | None] = Counter()
        self.seen: dict[int | str | None, dict[str, Any]] = {}

    def next_id(self) -> int:
        self.number += 1
        return self.number

    def send(self, line: bytes | dict[str, Any], *owed: int | str | None) -> None:
        self.server.send(line)
        self.owed.update(owed)

    @rule()
    def initialize(self) -> None:
        number = self.next_id()
        self.send({**INITIALIZE, "id": number}, number)
        self.send(INITIALIZED)

    @rule(kind=st.sampled_from(["tools/list", "tools/call", "ping"]), plain=st.booleans())
    def handshake_era(self, kind: str, plain: bool) -> None:
        number = self.next_id()
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": kind, "params": {}}
        if kind == "tools/call":
            message = call(number, "echo", {"value": number})
        if not plain:
            message["params"] = {**message["params"], "_meta": {"progressToken": number}}
        self.send(message, number)

    @rule(kind=st.sampled_from(["tools/list", "tools/call", "server/discover"]))
    def modern(self, kind: str) -> None:
        number = self.next_id()
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": kind, "params": {}}
        if kind == "tools/call":
            message = call(number, "echo", {"value": number})
        message["params"] = {**message["params"], "_meta": MODERN_META}
        self.send(message, number)

    @rule(template=st.sampled_from(BROKEN))
    def broken(self, template: bytes) -> None:
        number = self.next_id()
        self.send(template.replace(b"%d", b"%d" % number), number)

    @rule(line=st.sampled_from(NAMELESS))
    def nameless(self, line: bytes) -> None:
        self.send(line, None)

    @rule(line=st.sampled_from(SILENT))
    def silent(self, line: bytes) -> None:
        self.send(line)

    @rule(
        cut=st.integers(min_value=1, max_value=80),
        dressed=st.sampled_from([b"%s", b"\xef\xbb\xbf%s", b"%s\r"]),
    )
    def in_two_parts(self, cut: int, dressed: bytes) -> None:
        number = self.next_id()
        message = call(number, "echo", {"value": "é" * 20}, _meta=MODERN_META)
        line = dressed % json.dumps(message, ensure_ascii=False).encode() + b"\n"
        for part in (line[:cut], line[cut:]):
            self.server.stdin.write(part)
            self.server.stdin.flush()
        self.owed[number] += 1

    @rule(modern=st.booleans(), plain=st.booleans())
    def cancel(self, modern: bool, plain: bool) -> None:
        """A call that is cancelled owes no answer; one that was never made owes its error."""
        number = self.next_id()
        meta = {**(MODERN_META if modern else {}), **({} if plain else {"progressToken": number})}
        self.send(call(number, "wait", {"seconds": 60, "note": "cancelled"}, _meta=meta))
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        self.cancelled.add(number)

    @rule(pair=st.booleans())
    def same_id(self, pair: bool) -> None:
        """The second request with an id that is in flight is refused; both are answered."""
        number = self.next_id()
        for _ in range(2 if pair else 3):
            self.send(call(number, "wait", {"seconds": 0.05, "note": "same"}, _meta=MODERN_META), number)

    @invariant()
    def alive(self) -> None:
        """A probe is answered; what else has come is kept."""
        probe = f"probe-{self.next_id()}"
        self.send(
            {"jsonrpc": "2.0", "id": probe, "method": "tools/list", "params": {"_meta": MODERN_META}}, probe
        )
        while not self.got[probe]:
            self.keep(self.server.answers.next())
        assert self.server.process.poll() is None

    def keep(self, line: bytes) -> None:
        message = json.loads(line)
        if "method" not in message:
            self.got[message.get("id")] += 1
            self.seen[message.get("id")] = message

    @override
    def teardown(self) -> None:
        with self.server:
            self.server.close_input()
            for line in self.server.answers.rest():
                self.keep(line)
            for number in self.cancelled & self.got.keys():
                assert self.got.pop(number) == 1
            assert self.got == self.owed
            assert self.server.process.returncode == 0
            assert "Traceback" not in self.server.errors.text


@pytest.mark.requirement("I3.5.2", "I3.1.1", "I3.1.2")
def test_no_line_silences_the_server(tmp_path: Path) -> None:
    class Machine(StdioMachine):
        config = write_config(tmp_path, "wait", limits={"message_bytes": 65_536})

    bounded = settings(
        max_examples=8,
        stateful_step_count=20,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    end = time.monotonic() + SECONDS
    run_state_machine_as_test(Machine, settings=bounded)
    while time.monotonic() < end:
        run_state_machine_as_test(Machine, settings=settings(bounded, derandomize=False, database=None))
