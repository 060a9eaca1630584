"""What is kept of a server's stderr."""

from __future__ import annotations

import pytest

from toolspan_server.engines.upstreams.child.stderr_tail import StderrTail

pytestmark = pytest.mark.requirement("I4.4.1")


def test_the_tail_keeps_the_last_lines_cut_to_its_width() -> None:
    tail = StderrTail(lines=3, width=5)
    for line in (b"one", b"  ", b"two", b"\xff\xfe", b"abcdefgh"):
        tail.add(line)
    assert tail.lines == ("two", "��", "abcde")
