"""Who may access a server at some address, for any config that it serves."""

from __future__ import annotations

from dataclasses import dataclass

from ..config import Config
from ..errors import ServeError
from .auth import auth_of
from .guard import LOOPBACK, Access
from .listening import is_loopback


@dataclass(frozen=True, slots=True)
class AccessOptions:
    """The options of the command line about access: the address, a token, whether none is needed, one
    toolset; and the ``public`` paths, which need no token (see ``Auth``).

    When a config replaces another while the server runs, its access is computed first, then it is served;
    ``Guard.replace`` applies the access.
    """

    host: str
    token: str | None = None
    insecure: bool = False
    toolset: str | None = None
    public: tuple[str, ...] = ()

    def access(self, config: Config) -> Access:
        """Who may access the server of ``config``.

        Raises ``ServeError`` when everybody on other machines might, and ``ConfigError`` for a file of
        tokens that cannot be read.
        """
        auth = auth_of(config, self.token, self.toolset, self.public)
        host = self.host.lower()
        names = LOOPBACK | {f"[{host}]" if ":" in host else host}
        if is_loopback(self.host):
            return Access(names, auth=auth)
        if auth is None and not self.insecure:
            raise ServeError(
                f"--host {self.host} is reachable from other machines: put auth into the config, give a "
                "variable that holds a token with --token-env NAME, or add --insecure"
            )
        return Access(names | _own_names(), addresses=True, any_name=auth is not None, auth=auth)


def _own_names() -> frozenset[str]:
    import socket

    return frozenset({socket.gethostname().lower()})
