"""The failures of file operations, in words for the model."""

from __future__ import annotations

import errno
import os

from ....common.path_spelling import quoted
from ....errors import ToolFailure

_ASK = "Ask the person to give you access, or work without it."
_FULL = frozenset((errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)))
_OUTSIDE = frozenset((errno.EXDEV, errno.ELOOP))
_MISSING = frozenset((errno.ENOENT, errno.ENOTDIR))
_NO_FILE = frozenset((errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP))


def outside(path: str) -> ToolFailure:
    """The failure of a path that leads out of the workspace. It does not say whether there is such a file."""
    return ToolFailure(
        f"{quoted(path)} is outside of the workspace",
        error_code="outside_workspace",
        user_action="Use a path inside the workspace. Others are added under roots in the config.",
    )


def bad_path(path: str, why: str) -> ToolFailure:
    """The failure of a text that is no path."""
    shown = quoted(path.encode("utf-8", "backslashreplace").decode())[:200]
    return ToolFailure(
        f"{shown} is no path: {why}", error_code="invalid_path", user_action="Correct the path."
    )


def not_found(path: str) -> ToolFailure:
    """The failure of a path inside the workspace at which there is nothing."""
    return ToolFailure(
        f"{quoted(path)} does not exist",
        error_code="file_not_found",
        user_action="Look for the right path with Glob.",
    )


def exchanged(path: str) -> ToolFailure:
    """The failure of a path whose folders or links were replaced while they were looked at."""
    return ToolFailure(
        f"{quoted(path)} was replaced while it was opened",
        error_code="file_error",
        user_action="Try again once nothing else changes its folders.",
    )


def not_regular(path: str, what: str) -> ToolFailure:
    """The failure of a path at which there is no regular file, but ``what``."""
    return ToolFailure(
        f"{quoted(path)} is {what}, not a regular file",
        error_code="not_a_file",
        user_action="Use Glob to list what is in a folder." if what == "a folder" else "Use another file.",
    )


def too_large(path: str, size: int, limit: str, most: int) -> ToolFailure:
    """The failure of a file of ``size`` bytes, more than ``limit``."""
    return ToolFailure(
        f"{quoted(path)} has {size:,} bytes, more than {limit} ({most:,})",
        error_code="too_large",
        user_action=f"Use a smaller file, or raise {limit} of the workspace in the config.",
    )


def failure_of(error: OSError, path: str) -> ToolFailure:
    """The failure that the system's ``error`` about ``path`` stands for."""
    code = error.errno
    if code in _MISSING:
        return not_found(path)
    if code in _OUTSIDE:
        return outside(path)
    if code in _NO_FILE:
        return not_regular(path, "a device or socket")
    if code in (errno.EACCES, errno.EPERM):
        return ToolFailure(
            f"{quoted(path)}: permission denied", error_code="permission_denied", user_action=_ASK
        )
    if code in _FULL:
        return ToolFailure(
            f"{quoted(path)} was not written: the disk is full",
            error_code="disk_full",
            user_action="Ask the person to free some space.",
        )
    return ToolFailure(
        f"{quoted(path)}: {os.strerror(code) if code else error}",
        error_code="file_error",
        user_action="Use another path.",
    )
