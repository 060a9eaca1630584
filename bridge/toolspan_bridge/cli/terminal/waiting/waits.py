"""The waits of this process, and when they are shown."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from .clock import Cancel, Clock, LoopClock
from .displays import Display, display_here


class Wait:
    """Something that is waited for: ``text`` says what, after "waiting for", and may change; ``group`` is its
    sort."""

    def __init__(self, text: str, group: str, started: float) -> None:
        self.text = text
        self.group = group
        self.started = started
        self.told = False


class Waits:
    """What is waited for, shown by the display that ``display`` gives when the first wait begins. Of several
    the latest is shown, and how many more there are of its group."""

    def __init__(self, clock: Clock, display: Callable[[], Display | None]) -> None:
        self._clock = clock
        self._choose = display
        self._display: Display | None = None
        self._waits: list[Wait] = []
        self._pauses = 0
        self._cancel: Cancel | None = None

    def begin(self, text: str, group: str = "") -> Wait:
        """Something is waited for, until ``end``."""
        wait = Wait(text, group, self._clock.now())
        if not self._waits:
            self._display = self._choose()
        self._waits.append(wait)
        self._schedule()
        return wait

    def end(self, wait: Wait) -> None:
        """It came, or will not come. Nothing, for a wait that is over."""
        if wait in self._waits:
            self._waits.remove(wait)
            self._schedule()
            if not self._waits and self._display is not None:
                self._display.clear()

    @contextmanager
    def paused(self) -> Generator[None]:
        """Show nothing in the block, in which a person is asked; their time is not that of a wait."""
        self._pauses += 1
        self._schedule()
        if self._display is not None:
            self._display.clear()
        began = self._clock.now()
        try:
            yield
        finally:
            self._pauses -= 1
            for wait in self._waits:
                wait.started += self._clock.now() - max(began, wait.started)
            self._schedule()

    def _schedule(self) -> None:
        """Look again when the next wait is due."""
        if self._cancel is not None:
            self._cancel()
            self._cancel = None
        if self._display is None or self._pauses:
            return
        due = [self._due(wait, self._display) for wait in self._waits]
        if times := [at for at in due if at is not None]:
            self._cancel = self._clock.later(max(0.0, min(times) - self._clock.now()), self._look)

    def _due(self, wait: Wait, display: Display) -> float | None:
        """When ``wait`` is to be shown next."""
        first = wait.started + display.after
        if not wait.told or self._clock.now() < first:
            return first
        return None if display.again is None else self._clock.now() + display.again

    def _look(self) -> None:
        self._cancel = None
        display, now = self._display, self._clock.now()
        due = [wait for wait in self._waits if display and now >= wait.started + display.after]
        if display is not None and due:
            shown = due[-1:] if display.again is not None else [wait for wait in due if not wait.told]
            for wait in shown:
                alike = sum(each.group == wait.group for each in due) if wait.group else 1
                more = f" (and {alike - 1} more)" if display.again is not None and alike > 1 else ""
                display.show(wait.text + more, now - wait.started)
            for wait in due:
                wait.told = True
        self._schedule()


_WAITS = Waits(LoopClock(), display_here)


def waits_here() -> Waits:
    """The waits of this process."""
    return _WAITS


@contextmanager
def waiting(text: str) -> Generator[Wait]:
    """``text`` is waited for in the block."""
    wait = _WAITS.begin(text)
    try:
        yield wait
    finally:
        _WAITS.end(wait)
