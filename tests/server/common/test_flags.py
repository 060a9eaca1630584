"""A flag is a ``threading.Event``, whoever waits."""

from __future__ import annotations

import threading

from toolspan_server.common.flags import Flag


def test_a_flag_is_an_event_that_is_set_and_cleared() -> None:
    flag = Flag()
    assert isinstance(flag, threading.Event)
    assert (flag.is_set(), repr(flag)) == (False, "<Flag: unset>")
    flag.set()
    assert (flag.is_set(), flag.wait(), repr(flag)) == (True, True, "<Flag: set>")
    flag.clear()
    assert (flag.is_set(), flag.wait(0)) == (False, False)


def test_a_thread_that_waits_is_woken() -> None:
    flag, woken = Flag(), threading.Event()
    waiting = threading.Thread(target=lambda: flag.wait(120) and woken.set())
    waiting.start()
    assert not flag.wait(0.01)
    flag.set()
    waiting.join(120)
    assert woken.is_set()


def test_a_flag_that_was_waited_for_is_cleared_for_the_next() -> None:
    flag = Flag()
    assert not flag.wait(0)
    flag.set()
    assert flag.wait(0)
    flag.clear()
    assert not flag.wait(0)
