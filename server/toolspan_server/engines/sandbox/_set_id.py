"""No set-id file is made: a filter of system calls by which the kernel refuses it (seccomp, Linux).

A program with such a bit runs in the name of whoever made it, for everybody on the machine. In the sandbox
the bit has no effect, but the file stays in the workspace. It is refused when it is made, so that it is never
there.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_SET_ID = 0o6000
_MAKES = 0o100 | 0o20000000
"""``O_CREAT`` and ``O_TMPFILE``: other ways of opening do not look at the mode."""

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_CALL_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16
_ALLOW, _NOT_PERMITTED, _NOT_THERE = (
    0x7FFF0000,
    0x00050001,
    0x00050026,
)
"""``SECCOMP_RET_ALLOW``; ``SECCOMP_RET_ERRNO`` with ``EPERM``, and with ``ENOSYS``."""

_X32 = 0x40000000


@dataclass(frozen=True, slots=True)
class _Machine:
    """Numbers of a processor's system calls. ``modes`` and ``opens`` have the place of the mode among the
    arguments; the flags of ``opens`` stand before it. ``unseen`` take the mode from memory, where no filter
    looks: programs do without them."""

    audit: int
    modes: Mapping[int, int]
    opens: Mapping[int, int]
    unseen: tuple[int, ...] = (437, 425)
    """``openat2`` and ``io_uring_setup``."""


_FCHMODAT2 = {452: 2}
_GENERIC_MODES, _GENERIC_OPENS = {52: 1, 53: 2, 33: 2, **_FCHMODAT2}, {56: 3}
_X86_64 = _Machine(0xC000003E, {90: 1, 91: 1, 268: 2, 85: 1, 133: 1, 259: 2, **_FCHMODAT2}, {2: 2, 257: 3})
_I386 = _Machine(0x40000003, {15: 1, 94: 1, 306: 2, 8: 1, 14: 1, 297: 2, **_FCHMODAT2}, {5: 2, 295: 3})
_AARCH64 = _Machine(0xC00000B7, _GENERIC_MODES, _GENERIC_OPENS)
_ARM = _Machine(0x40000028, {15: 1, 94: 1, 333: 2, 8: 1, 14: 1, 324: 2, **_FCHMODAT2}, {5: 2, 322: 3})
_RISCV64 = _Machine(0xC00000F3, _GENERIC_MODES, _GENERIC_OPENS)
_MACHINES = {"x86_64": (_X86_64, _I386), "aarch64": (_AARCH64, _ARM), "riscv64": (_RISCV64,)}


def set_id_filter(machine: str | None = None) -> bytes | None:
    """The filter as bubblewrap takes it (``--seccomp``); ``None``: the processor's calls are not known."""
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    program = b"".join(map(_for_machine, known))
    return program + _step(_RETURN, _NOT_THERE)


def write_filter(file: Path) -> Path | None:
    """``file``, with the filter for this machine in it; ``None`` where there is none."""
    found = set_id_filter()
    if found is None:
        return None
    file.write_bytes(found)
    return file


def _for_machine(machine: _Machine) -> bytes:
    body = _step(_LOAD, _CALL_AT)
    if machine is _X86_64:
        body += _step(_AT_LEAST, _X32, 0, 1) + _step(_RETURN, _NOT_THERE)
    for call in machine.unseen:
        body += _step(_EQUAL, call, 0, 1) + _step(_RETURN, _NOT_THERE)
    for call, at in machine.modes.items():
        body += _when(call, _looks_at_mode(at))
    for call, at in machine.opens.items():
        makes = _step(_LOAD, _argument(at - 1)) + _step(_ANY_BIT, _MAKES, 1, 0) + _step(_RETURN, _ALLOW)
        body += _when(call, makes + _looks_at_mode(at))
    body += _step(_RETURN, _ALLOW)
    return _step(_LOAD, _MACHINE_AT) + _step(_EQUAL, machine.audit, 0, len(body) // 8) + body


def _looks_at_mode(at: int) -> bytes:
    refused = _step(_RETURN, _NOT_PERMITTED) + _step(_RETURN, _ALLOW)
    return _step(_LOAD, _argument(at)) + _step(_ANY_BIT, _SET_ID, 0, 1) + refused


def _when(call: int, steps: bytes) -> bytes:
    return _step(_EQUAL, call, 0, len(steps) // 8) + steps


def _argument(at: int) -> int:
    """Where the low half of an argument is; all of these machines are little-endian."""
    return _ARGUMENTS_AT + 8 * at


def _step(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("<HBBI", code, then, otherwise, value)
