"""A line that is typed at a terminal, and Ctrl+C that ends the wait for it at whatever moment it comes."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading

import click

from ..output import print_question


def typed_line(prompt: str) -> str:
    """The next line of stdin, without its end; ``prompt`` is shown on stderr. Raises ``click.Abort`` when
    there is none: Ctrl+C, Ctrl+D, the end of a file."""
    try:
        print_question(prompt)
        _await_line()
        return input()
    except (KeyboardInterrupt, EOFError):
        raise click.Abort from None


def _await_line() -> None:
    """Wait until stdin can be read.

    Python runs a signal's handler only between two steps of its own. One that came after the last step before
    ``read`` would wait for a line with it, so the wait is for a byte that the signal itself leaves as well.
    """
    here = threading.current_thread() is threading.main_thread()
    if os.name != "posix" or not here or not sys.stdin.isatty():
        return
    signalled, ours = socket.socketpair()
    with signalled, ours:
        signalled.setblocking(False)
        ours.setblocking(False)
        others = signal.set_wakeup_fd(ours.fileno(), warn_on_full_buffer=False)
        try:
            while sys.stdin not in (ready := select.select([sys.stdin, signalled], [], [])[0]):
                assert signalled in ready
                _pass_on(signalled.recv(4096), others)
        finally:
            signal.set_wakeup_fd(others, warn_on_full_buffer=False)


def _pass_on(numbers: bytes, others: int) -> None:
    """Tell of signals where they were told of before: an event loop runs its handlers when it reads them."""
    if others != -1:
        os.write(others, numbers)
