"""What a command may reach of the machine, and what confines it to that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/gnu/store",
)
"""What programs need of the system, where it is there. Nobody's own files are in it."""

SECRET = (
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/NetworkManager",
    "/etc/wireguard",
    "/etc/docker",
    "/etc/kubernetes",
)
"""Of that, what only the system's administrator may read: hidden, because the server may be theirs."""


@dataclass(frozen=True, slots=True)
class Reach:
    """``writable`` are the folders that a command may write to, ``workspace`` first of all; of these,
    ``protected`` stay as they are. ``readable`` are further files and folders to read. ``temporary`` is a
    folder for its temporary files and its home. ``network`` says whether it may use the network. What is
    ``hidden`` of all that is not read either, nor are the files and folders that are ``denied``, in whose
    place ``nothing`` is seen: a folder that has an unreadable ``file`` and ``folder``. ``obeyed`` are the
    names that stay as they are wherever they lie, for a confinement that knows files by patterns. ``filter``
    is the file that has the filter of system calls (see ``_set_id``).
    """

    workspace: Path
    temporary: Path
    writable: Sequence[Path] = ()
    readable: Sequence[Path] = ()
    protected: Sequence[Path] = ()
    network: bool = False
    hidden: Sequence[Path] = ()
    denied: Sequence[Path] = ()
    nothing: Path | None = None
    obeyed: Sequence[str] = ()
    filter: Path | None = None

    @property
    def folders(self) -> tuple[Path, ...]:
        """The workspace, and the other folders that may be written to."""
        return (self.workspace, *self.writable)

    def kept(self) -> list[Path]:
        """What must not change of the writable folders, as far as it exists."""
        inside = [path for path in self.protected if any(path.is_relative_to(each) for each in self.folders)]
        return [path for path in dict.fromkeys(inside) if path.exists() and not path.is_symlink()]

    def unseen(self) -> list[Path]:
        """The hidden folders that there are in what may be reached."""
        reached = (*self.folders, *self.readable)
        return [
            path
            for path in self.hidden
            if path.is_dir() and any(path.is_relative_to(each) for each in reached)
        ]


class Confinement(Protocol):
    """A way to confine commands: ``name`` is the program that does it."""

    @property
    def name(self) -> str: ...

    @property
    def wrapped(self) -> bool:
        """Whether the program ends all processes with itself."""
        ...

    def command(self, words: Sequence[str], reach: Reach, threads: int, shared_bytes: int) -> list[str]:
        """The command that runs ``words`` confined to ``reach``, in the workspace.

        The kernel lets it have ``threads`` threads where it counts them; ``shared_bytes`` is the size of
        memory that is used as files.
        """
        ...

    def environment(self, reach: Reach) -> dict[str, str]:
        """The environment of the command."""
        ...


def described(confinement: Confinement | None, reach: Reach, why: str = "") -> dict[str, Any]:
    """What a person is to know who allows a command: ``{"kind", "network", "writable", "readable"}``; without
    a confinement ``{"kind": "none", "why"}``."""
    if confinement is None:
        return {"kind": "none", "why": why}
    return {
        "kind": confinement.name,
        "network": reach.network,
        "writable": [str(folder) for folder in reach.folders],
        "readable": [str(path) for path in reach.readable],
    }
