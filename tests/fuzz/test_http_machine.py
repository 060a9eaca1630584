"""A fuzzer of the HTTP server: many connections, right and wrong requests of all eras, in any order.

``TOOLSPAN_FUZZ_SECONDS`` makes it go on for so long.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
    run_state_machine_as_test,
)
from typing_extensions import override

from tests.support import http_traffic as traffic
from tests.support.raw_http import Answer, RawClient, request, statuses, tool_call
from tests.support.served import INITIALIZED, Served, call, http_server, write_config

pytestmark = pytest.mark.long

SECONDS = float(os.environ.get("TOOLSPAN_FUZZ_SECONDS", "0"))
LIMITS = {"idle_seconds": 60, "connections": 200}
PROBE = tool_call("echo", {"value": "probe"}, ("connection", "close"))
LAST = request("GET", "/healthz", ("connection", "close"))


@dataclass
class Line:
    """A connection: the answers it is owed, in order."""

    client: RawClient
    owed: list[traffic.Check] = field(default_factory=list[traffic.Check])


class HttpMachine(RuleBasedStateMachine):
    """What clients do, and what must hold whatever they do."""

    server: Served
    lines = Bundle("lines")
    sessions = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.number = 0
        self.open: list[Line] = []
        self.held: list[RawClient] = []
        self.live: list[str] = []

    def connected(self) -> RawClient:
        client = RawClient(self.server.address)
        self.held.append(client)
        return client

    def next_id(self) -> int:
        self.number += 1
        return self.number

    def ask(self, line: Line, asked: traffic.Asked) -> None:
        line.client.send(asked.sent)
        line.owed.append(asked.check)

    @rule(target=lines)
    def connect(self) -> Line:
        line = Line(self.connected())
        self.open.append(line)
        return line

    @rule(
        line=lines,
        kind=st.sampled_from(["call", "list", "discover", "unknown"]),
        pieces=st.integers(min_value=0, max_value=5),
    )
    def modern_request(self, line: Line, kind: str, pieces: int) -> None:
        self.ask(line, traffic.modern(self.next_id(), kind, pieces))

    @rule(line=lines, kind=st.sampled_from(["call", "list", "ping", "unknown"]), pieces=st.integers(0, 5))
    def stateless_request(self, line: Line, kind: str, pieces: int) -> None:
        self.ask(line, traffic.handshake_era(self.next_id(), kind, pieces, None))

    @rule(
        line=lines,
        session=sessions,
        kind=st.sampled_from(["call", "list", "ping", "progress", "unknown"]),
        pieces=st.integers(0, 5),
    )
    def request_in_a_session(self, line: Line, session: str, kind: str, pieces: int) -> None:
        asked = traffic.handshake_era(self.next_id(), kind, pieces, session)

        def check(answer: Answer) -> None:
            if answer.status == 404:
                assert session not in self.live
            else:
                asked.check(answer)

        self.ask(line, traffic.Asked(asked.sent, check))

    @rule(line=lines, kind=st.sampled_from(sorted(traffic.WRONG)))
    def wrong_request(self, line: Line, kind: str) -> None:
        sent, expected = traffic.WRONG[kind]
        self.ask(line, traffic.Asked(sent, traffic.with_status(*expected)))

    @rule(line=consumes(lines), kind=st.sampled_from(sorted(traffic.REFUSED)))
    def refused_request(self, line: Line, kind: str) -> None:
        sent, expected = traffic.REFUSED[kind]
        self.ask(line, traffic.Asked(sent, traffic.with_status(*expected)))
        self.finish(line, b"")

    @rule(line=consumes(lines), junk=st.sampled_from(traffic.BROKEN), more=st.binary(max_size=40))
    def nonsense(self, line: Line, junk: bytes, more: bytes) -> None:
        """What was asked before is answered, what follows is refused, and that is the end."""
        self.open.remove(line)
        line.client.send(junk + more)
        self.read_all(line)
        [refusal] = statuses(line.client.rest())
        assert 400 <= refusal < 500

    @rule(line=lines, cut=st.integers(1, 200))
    def request_in_two_parts(self, line: Line, cut: int) -> None:
        asked = traffic.modern(self.next_id(), "call", 0)
        line.client.send(asked.sent[:cut])
        self.alive()
        line.client.send(asked.sent[cut:])
        line.owed.append(asked.check)

    @rule(line=lines)
    def read(self, line: Line) -> None:
        self.read_all(line)

    @rule(line=consumes(lines))
    def finish_politely(self, line: Line) -> None:
        line.owed.append(traffic.with_status(200))
        self.finish(line, LAST)

    @rule(line=consumes(lines), reset=st.booleans())
    def leave(self, line: Line, reset: bool) -> None:
        if reset:
            line.client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        line.client.close()
        self.open.remove(line)

    @rule(reset=st.booleans())
    def leave_a_running_call(self, reset: bool) -> None:
        line = Line(self.connected().send(tool_call("wait", {"seconds": 60, "note": "left"})))
        self.open.append(line)
        self.leave(line, reset)

    @rule(target=sessions)
    def open_a_session(self) -> str:
        client = self.connected()
        asked = traffic.initialize(self.next_id())
        answer = client.send(asked.sent).answer()
        asked.check(answer)
        session = answer.headers["mcp-session-id"]
        initialized = traffic.post(INITIALIZED, ("mcp-session-id", session))
        assert client.send(initialized).answer().status == 202
        self.live.append(session)
        return session

    @rule(session=consumes(sessions))
    def end_a_session(self, session: str) -> None:
        self.live.remove(session)
        client = self.connected()
        headers = ("mcp-session-id", session)
        assert client.send(request("DELETE", "/mcp", headers)).answer().status == 200
        gone = client.send(traffic.handshake_era(self.next_id(), "ping", 0, session).sent).answer()
        assert gone.status == 404

    @rule(session=sessions, twice=st.booleans())
    def cancel_a_call(self, session: str, twice: bool) -> None:
        number = self.next_id()
        headers = ("mcp-session-id", session)
        running, other = self.connected(), self.connected()
        wait = call(number, "wait", {"seconds": 60, "note": "cancelled"})
        running.send(traffic.post(wait, headers))
        if twice:
            duplicate = other.send(traffic.post(wait, headers)).answer()
            assert b'"error"' in duplicate.body
        cancelling = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
        while not statuses_ready(running):
            assert other.send(traffic.post(cancelling, headers)).answer().status == 202
        assert b"waited" not in running.answer().body

    @rule(path=st.sampled_from(["/sse", "/mcp"]), session=sessions)
    def open_a_stream(self, path: str, session: str) -> None:
        headers = (("mcp-session-id", session), traffic.ACCEPT) if path == "/mcp" else ()
        self.connected().send(request("GET", path, *headers))

    @invariant()
    def alive(self) -> None:
        assert self.server.process.poll() is None
        assert statuses(self.server.exchange(PROBE)) == [200]

    def read_all(self, line: Line) -> None:
        """Check each answer owed; one that failed is owed no more: the first failure is the one told."""
        while line.owed:
            line.owed.pop(0)(line.client.answer())

    def finish(self, line: Line, last: bytes) -> None:
        """Exactly the answers owed come, and then the end."""
        self.open.remove(line)
        line.client.send(last)
        self.read_all(line)
        assert line.client.rest() == b""

    @override
    def teardown(self) -> None:
        try:
            for line in self.open[:]:
                line.owed.append(traffic.with_status(200))
                self.finish(line, LAST)
            for session in self.live[:]:
                self.end_a_session(session)
            assert "Traceback" not in self.server.errors.text
        finally:
            for client in self.held:
                client.close()


def statuses_ready(client: RawClient) -> bool:
    """Whether an answer has begun to come."""
    client.socket.settimeout(0.01)
    try:
        return bool(client.socket.recv(1, socket.MSG_PEEK))
    except TimeoutError:
        return False
    finally:
        client.socket.settimeout(10)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    config = write_config(tmp_path_factory.mktemp("fuzz"), "wait", limits=LIMITS)
    with http_server(config) as served:
        yield served


@pytest.mark.requirement("I3.5.2")
def test_no_traffic_silences_the_server(server: Served) -> None:
    class Machine(HttpMachine):
        pass

    Machine.server = server
    bounded = settings(
        max_examples=20,
        stateful_step_count=20,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    end = time.monotonic() + SECONDS
    run_state_machine_as_test(Machine, settings=bounded)
    while time.monotonic() < end:
        run_state_machine_as_test(Machine, settings=settings(bounded, derandomize=False, database=None))
