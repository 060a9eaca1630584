"""What is waited for is shown on stderr, by what stderr is; the clock is the test's."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.terminal import Terminal
from tests.support.wire_peers import wires
from toolspan_bridge.cli.terminal.output import print_note, without_notes
from toolspan_bridge.cli.terminal.waiting import displays
from toolspan_bridge.cli.terminal.waiting.displays import display_here
from toolspan_bridge.cli.terminal.waiting.waits import Waits

CLEAR = "\r\x1b[J"


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.time = 0.0
        self.due: list[tuple[float, Callable[[], None]]] = []

    def now(self) -> float:
        return self.time

    def later(self, seconds: float, call: Callable[[], None]) -> Callable[[], None]:
        timer = (self.time + seconds, call)
        self.due.append(timer)
        return lambda: self.due.remove(timer) if timer in self.due else None

    def pass_to(self, time: float) -> None:
        """Let everything happen that is due until ``time``."""
        while self.due and min(at for at, _ in self.due) <= time + 1e-9:
            timer = min(self.due, key=lambda each: each[0])
            self.due.remove(timer)
            self.time = max(self.time, timer[0])
            timer[1]()
        self.time = time


class Screen(io.StringIO):
    encoding = "utf-8"

    def __init__(self, *, tty: bool) -> None:
        super().__init__()
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def waits(clock: Clock) -> Waits:
    return Waits(clock, display_here)


def stderr(monkeypatch: pytest.MonkeyPatch, *, tty: bool, **environment: str) -> Screen:
    screen = Screen(tty=tty)
    monkeypatch.setattr(sys, "stderr", screen)
    for name, value in {"TERM": "xterm", "NO_COLOR": "", "COLUMNS": "60", **environment}.items():
        monkeypatch.setenv(name, value)
    return screen


def taken(screen: Screen) -> str:
    text = screen.getvalue()
    screen.seek(0)
    screen.truncate()
    return text


@pytest.mark.requirement("I13.2.7")
def test_a_terminal_shows_a_wait_after_a_moment_with_its_seconds_and_takes_it_away(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, waits: Waits
) -> None:
    screen = stderr(monkeypatch, tty=True)
    wait = waits.begin("the server slow to start")
    clock.pass_to(0.25)
    assert taken(screen) == ""
    clock.pass_to(0.3)
    assert taken(screen) == f"{CLEAR}⠋ waiting for the server slow to start · 0 s\r"
    clock.pass_to(65)
    assert taken(screen).endswith("waiting for the server slow to start · 1 min 5 s\r")
    waits.end(wait)
    assert taken(screen) == CLEAR
    clock.pass_to(100)
    assert taken(screen) == "" and not clock.due


@pytest.mark.requirement("I13.2.7")
def test_what_is_quick_is_never_shown(monkeypatch: pytest.MonkeyPatch, clock: Clock, waits: Waits) -> None:
    screen = stderr(monkeypatch, tty=True)
    for _ in range(3):
        wait = waits.begin("a word")
        clock.pass_to(clock.time + 0.2)
        waits.end(wait)
    assert taken(screen) == ""


@pytest.mark.requirement("I13.2.7")
def test_a_line_that_is_printed_meanwhile_stands_alone(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, waits: Waits
) -> None:
    screen = stderr(monkeypatch, tty=True)
    waits.begin("a word")
    clock.pass_to(1)
    taken(screen)
    print_note("something else")
    assert taken(screen) == f"{CLEAR}toolspan: something else\n"
    clock.pass_to(1.2)
    assert "waiting for a word" in taken(screen), "and the line comes again"


@pytest.mark.requirement("I13.2.7")
def test_of_several_the_latest_is_shown_and_how_many_there_are_of_its_sort(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, waits: Waits
) -> None:
    screen = stderr(monkeypatch, tty=True)
    waits.begin("the model")
    waits.begin("the tool a", "tools")
    last = waits.begin("the tool b", "tools")
    clock.pass_to(0.3)
    assert "waiting for the tool b (and 1 more) · 0 s" in taken(screen)
    last.text = "the tool b, 1 of 3"
    clock.pass_to(0.4)
    assert "the tool b, 1 of 3 (and 1 more)" in taken(screen)
    waits.end(last)
    clock.pass_to(0.6)
    assert "the tool a · 0 s" in taken(screen)


@pytest.mark.requirement("I13.2.7")
def test_while_a_person_is_asked_nothing_is_shown_and_no_time_passes(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, waits: Waits
) -> None:
    screen = stderr(monkeypatch, tty=True)
    waits.begin("the tool a")
    clock.pass_to(2)
    taken(screen)
    with waits.paused():
        assert taken(screen) == CLEAR
        clock.pass_to(60)
        assert taken(screen) == ""
    clock.pass_to(61)
    assert taken(screen).endswith("waiting for the tool a · 3 s\r")


@pytest.mark.requirement("I13.2.8")
@pytest.mark.parametrize("plain", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_a_dumb_terminal_and_one_without_colour_get_a_plain_line_once(
    plain: dict[str, str], monkeypatch: pytest.MonkeyPatch, clock: Clock, waits: Waits
) -> None:
    screen = stderr(monkeypatch, tty=True, **plain)
    wait = waits.begin("a word")
    clock.pass_to(30)
    waits.end(wait)
    assert taken(screen) == "toolspan: waiting for a word\n"


@pytest.mark.requirement("I13.2.8")
def test_a_pipe_gets_a_line_for_a_long_wait_alone(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, waits: Waits
) -> None:
    screen = stderr(monkeypatch, tty=False)
    short = waits.begin("a word")
    clock.pass_to(9)
    waits.end(short)
    assert taken(screen) == ""
    long = waits.begin("another")
    clock.pass_to(60)
    waits.end(long)
    assert taken(screen) == "toolspan: waiting for another (10 s so far)\n"


@pytest.mark.requirement("I13.2.8")
def test_nothing_is_shown_where_the_answer_alone_is_wanted(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, waits: Waits
) -> None:
    screen = stderr(monkeypatch, tty=True)
    with without_notes():
        waits.begin("a word")
        clock.pass_to(60)
    assert taken(screen) == ""


@pytest.mark.requirement("I13.2.9")
def test_the_line_is_cut_to_the_terminal_and_nothing_acts_on_it(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, waits: Waits
) -> None:
    screen = stderr(monkeypatch, tty=True, COLUMNS="40")
    waits.begin("\x1b]52;c;QQ\x07\u202e" + "界" * 60)
    clock.pass_to(0.3)
    (line,) = taken(screen).split(CLEAR)[1:]
    assert line.startswith(r"⠋ waiting for \x1b]52;c;QQ\x07")
    assert sum(2 if each == "界" else 1 for each in line.rstrip("\r")) <= 39
    assert line.endswith(" · 0 s\r")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(displays, "LATE", 0.0)


@pytest.mark.requirement("I13.2.7")
@pytest.mark.usefixtures("impatient")
def test_verbs_say_that_they_wait_for_servers_models_and_tools(tmp_path: Path) -> None:
    tool = (
        "{name: a, description: Add, implementation: "
        "{type: mock, mock_response: '1', steps: [{progress: {progress: 1, total: 3}}, {delay_ms: 50}]}}"
    )
    (tmp_path / "toolspan.yaml").write_text(f"name: shop\ntools: {{registry: [{tool}]}}\n")
    called = toolspan("tools", "call", "a", cwd=tmp_path)
    assert called.code == 0, called.err
    assert "toolspan: waiting for the server shop to start\n" in called.err
    assert "waiting for the tool a" in called.err
    answer = Sent(wires("openai").answer("Hello."))
    with FakeProvider(anything, [answer]) as fake:
        held = {"OPENAI_API_KEY": "sk-secret-0123", "OPENAI_BASE_URL": f"{fake.url}/v1"}
        asked = toolspan("ask", "hi", "-m", "openai-chat/gpt-4o", "--no-save", cwd=tmp_path, **held)
        assert asked.code == 0 and "waiting for openai-chat/gpt-4o" in asked.err
    assert "waiting for the server shop" in toolspan("export", "-f", "openai", cwd=tmp_path).err


@pytest.mark.requirement("I13.2.7")
@pytest.mark.long
def test_a_server_that_hangs_is_shown_and_ends_at_its_limit_with_what_it_last_said(tmp_path: Path) -> None:
    hangs = "import sys, time; print('still loading', file=sys.stderr, flush=True); time.sleep(600)"
    (tmp_path / "hang.py").write_text(hangs)
    (tmp_path / "toolspan.yaml").write_text(
        "limits: {connect_seconds: 3}\n"
        f"mcpServers: {{slow: {{command: {sys.executable}, args: [hang.py]}}}}\n"
    )
    with Terminal("tools", "list", "-c", "toolspan.yaml", cwd=tmp_path) as terminal:
        terminal.until("waiting for the server slow to start · 1 s")
        terminal.until(f"{CLEAR}toolspan: server 'slow': no answer within 3 s")
        terminal.until("still loading")
        assert terminal.ended() == 4
    last = terminal.shown.rpartition(CLEAR)[2]
    assert "waiting" not in last


@pytest.mark.requirement("I13.2.7")
@pytest.mark.long
def test_the_pause_before_another_attempt_is_shown_with_its_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = Sent({"error": {"message": "busy"}}, status=429, headers={"retry-after": "2"})
    with FakeProvider(anything, [busy, Sent(wires("openai").answer("Hello."))]) as fake:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        ask = ("ask", "hi", "-m", "openai-chat/gpt-4o", "--no-save", "--no-stream")
        with Terminal(*ask, cwd=tmp_path) as terminal:
            terminal.until("waiting for attempt 2 at openai-chat in 2.0 s: answered 429")
            terminal.until("Hello.")
            assert terminal.ended() == 0
