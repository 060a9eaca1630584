"""Ends the servers of this process when it is killed and cannot do it itself.

A shell waits for the end of its input, which comes with the end of this process however that ends, and then
signals the process groups that it was told of. What left its server's group is not known to it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

_SCRIPT = """
groups=
while read -r sign group; do
  rest=
  for each in $groups; do [ "$each" = "$group" ] || rest="$rest $each"; done
  groups=$rest
  [ "$sign" = + ] && groups="$groups $group"
done
[ -z "$groups" ] && exit
sleep 2
for each in $groups; do kill -s TERM -- "-$each"; done
sleep 1
for each in $groups; do kill -s KILL -- "-$each"; done
"""
_SHELL = "/bin/sh"


class _Shell:
    """The shell of this process, started when it is first told something."""

    def __init__(self) -> None:
        self._pid = 0
        self._input = -1

    def tell(self, line: str) -> None:
        """Write ``line`` to it. Where there is no shell, nothing."""
        with suppress(OSError):
            if self._pid != os.getpid():
                self._input, self._pid = _started(), os.getpid()
            os.write(self._input, line.encode())


_shell = _Shell()


@contextmanager
def ended_afterwards(group: int) -> Generator[None]:
    """The process group ``group`` is ended when this process is killed within the block."""
    if sys.platform == "win32":
        yield
        return
    _shell.tell(f"+ {group}\n")
    try:
        yield
    finally:
        _shell.tell(f"- {group}\n")


def _started() -> int:
    """The descriptor of the input of a new shell. Raises ``OSError``."""
    reading, writing = os.pipe()
    nothing = os.O_WRONLY
    try:
        os.posix_spawn(
            _SHELL,
            [_SHELL, "-c", _SCRIPT],
            {"PATH": os.defpath},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, reading, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, nothing, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, nothing, 0),
            ],
            setpgroup=0,
        )
    except OSError:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    return writing
