"""From a config's ``auth`` to what the guard asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...config import Config
from ...config.models.auth import AuthConfig, ToolsetAuthConfig
from ._auth import Auth
from ._challenge import Challenges
from ._jwt import Issuer
from ._keys import Keys
from ._principal import Principal
from ._tokens import hashed, static_tokens

_EVERYTHING = ("/mcp", "/sse", "/messages/")


def auth_of(
    config: Config, token: str | None, toolset: str | None = None, public: Iterable[str] = ()
) -> Auth | None:
    """Who may use ``config``'s server, ``token`` of the command line included; ``None``: everybody.

    That token may do everything. With ``toolset``, that one is served as if it were everything. ``public``
    paths need no token. Raises ``ConfigError`` for a file of tokens that cannot be read.
    """
    toolsets = toolset_auth(config, toolset)
    auth = config.auth
    if auth is None and token is None and not any(each.scopes or each.tokens for each in toolsets.values()):
        return None
    implies = {} if auth is None else auth.implies
    needs = _needs(auth, toolsets) if toolset is None else _needs_of(toolsets)
    static = {} if auth is None else static_tokens(auth.tokens, config.directory, implies)
    for path, own in toolsets.items():
        only = None if toolset is not None else path
        static |= static_tokens(own.tokens, config.directory, implies, only, own.scopes)
    if token is not None:
        static[hashed(token.encode())] = all_powerful(needs)
    oauth = None if auth is None else auth.oauth
    if oauth is None:
        return Auth(static, needs, public=public)
    required = frozenset(oauth.required_scopes)
    asked = {path: scopes | required for path, scopes in needs.items()}
    challenges = Challenges(asked, oauth.issuer, oauth.public_url)
    return Auth(static, needs, Issuer(oauth, Keys(oauth), implies), challenges, public=public)


def auth_of_token(token: str) -> Auth:
    """For those who have ``token``, everything."""
    return Auth({hashed(token.encode()): all_powerful({})})


def all_powerful(needs: Mapping[str, frozenset[str]]) -> Principal:
    """The principal of the command line's token."""
    return Principal(b"token", frozenset[str]().union(*needs.values()))


def toolset_auth(config: Config, only: str | None = None) -> dict[str, ToolsetAuthConfig]:
    """The auth config of each toolset, or of ``only`` that one, by the path of its endpoint."""
    return {
        f"/mcp/{name}": toolset.auth or ToolsetAuthConfig.initial()
        for name, toolset in config.toolsets.items()
        if only in (None, name)
    }


def _needs(auth: AuthConfig | None, toolsets: Mapping[str, ToolsetAuthConfig]) -> dict[str, frozenset[str]]:
    """The scopes that each path needs.

    Where every tool is, a token needs the scopes of every toolset, or else those would protect nothing.
    """
    of_toolsets = {path: frozenset(each.scopes) for path, each in toolsets.items()}
    given = None if auth is None else auth.scopes
    every = frozenset[str]().union(*of_toolsets.values()) if given is None else frozenset(given)
    return of_toolsets | dict.fromkeys(_EVERYTHING, every)


def _needs_of(toolsets: Mapping[str, ToolsetAuthConfig]) -> dict[str, frozenset[str]]:
    """The same where one toolset is all that is served."""
    scopes = frozenset[str]().union(*(each.scopes for each in toolsets.values()))
    return dict.fromkeys((*toolsets, *_EVERYTHING), scopes)
