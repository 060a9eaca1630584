"""How a request proves who makes it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from typing_extensions import override

from ...problems import Fault, Faulty
from ...schema.constraints import Limits
from ...schema.records import (
    Record,
    key,
)
from ._errors import auth_failed
from ._hosts import check_url
from ._secrets import basic

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_Secret = Annotated[str, Limits(least=1, most=10_000)]
_Variable = Annotated[str, Limits(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
_FieldName = Annotated[str, Limits(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$")]
_SECRETS = ("token", "username", "password", "value", "client_id", "client_secret")
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "bearer": ("token",),
    "basic": ("username", "password"),
    "api_key": ("name", "value"),
    "oauth2": ("token_url", "client_id", "client_secret"),
}
_POSSIBLE: Mapping[str, tuple[str, ...]] = {
    "bearer": (),
    "basic": (),
    "api_key": ("place",),
    "oauth2": ("scopes", "audience", "client_auth", "token_params"),
}


class HttpAuth(Record):
    """Who makes the requests: a bearer token, a user, an API key, or an OAuth client (client credentials).

    Each secret is written as ``${VAR}``, or named by the key that ends in ``_env``.
    """

    type: Literal["bearer", "basic", "api_key", "oauth2"] = key("The authentication scheme.")
    token: _Secret | None = key("bearer: the token.", default=None, hidden=True)
    token_env: _Variable | None = key("bearer: the variable that holds the token.", default=None)
    username: _Secret | None = key("basic: the user's name.", default=None, hidden=True)
    username_env: _Variable | None = key("basic: the variable that holds the name.", default=None)
    password: _Secret | None = key("basic: the password.", default=None, hidden=True)
    password_env: _Variable | None = key("basic: the variable that holds the password.", default=None)
    name: _FieldName | None = key("api_key: the header, query parameter or cookie.", default=None)
    place: Literal["header", "query", "cookie"] = key(
        "api_key: where the key is sent.", default="header", spellings=["in"]
    )
    value: _Secret | None = key("api_key: the key.", default=None, hidden=True)
    value_env: _Variable | None = key("api_key: the variable that holds the key.", default=None)
    token_url: str | None = key("oauth2: the token endpoint.", check=check_url, default=None)
    client_id: _Secret | None = key("oauth2: the client's id.", default=None, hidden=True)
    client_id_env: _Variable | None = key("oauth2: the variable that holds the id.", default=None)
    client_secret: _Secret | None = key("oauth2: the client's secret.", default=None, hidden=True)
    client_secret_env: _Variable | None = key("oauth2: the variable that holds the secret.", default=None)
    scopes: tuple[Annotated[str, Limits(least=1)], ...] = key("oauth2: the scopes to request.", default=())
    audience: str | None = key("oauth2: the audience to request.", least=1, default=None)
    client_auth: Literal["basic", "post"] = key(
        "oauth2: whether id and secret are sent in a header or in the body.",
        default="basic",
    )
    token_params: dict[str, str] = key(
        "oauth2: more parameters of the token request.", factory=dict, hidden=True
    )

    @override
    def check(self) -> None:
        faults = [*self._missing(), *self._misplaced(), *self._unsendable()]
        if faults:
            raise Faulty(*faults)

    def _missing(self) -> Iterator[Fault]:
        for name in _NEEDED[self.type]:
            ways = [name, f"{name}_env"] if name in _SECRETS else [name]
            given = [way for way in ways if getattr(self, way) is not None]
            if not given:
                yield Fault((), f"type {self.type!r} needs {' or '.join(ways)}", f"add {ways[-1]}")
            elif len(given) > 1:
                yield Fault((ways[1],), f"{name!r} is given as well", "keep one of them", on_key=True)

    def _misplaced(self) -> Iterator[Fault]:
        known = {"type", *_NEEDED[self.type], *(f"{name}_env" for name in _NEEDED[self.type])}
        for name in sorted(self.model_fields_set - known - set(_POSSIBLE[self.type])):
            written = "in" if name == "place" else name
            yield Fault((written,), f"{written!r} means nothing for type {self.type!r}", "remove it", True)

    def _unsendable(self) -> Iterator[Fault]:
        for name in _SECRETS:
            value = getattr(self, name)
            if value is not None and (what := self._fault_in(name, value)):
                hint = "remove it, also a line break at the end of the variable that it is made of"
                yield Fault((name,), f"the value holds {what}", hint)

    def _fault_in(self, name: str, value: str) -> str | None:
        """What keeps the secret ``name`` from being sent, in words that repeat nothing of it."""
        if _CONTROL.search(value):
            return "a control character, such as a line break"
        if name == "username" and ":" in value:
            return "a colon, which ends a user's name (RFC 7617)"
        as_it_is = name == "token" or (name == "value" and self.place == "header")
        if as_it_is and not value.isascii():
            return "a character that no header can hold: only ASCII can be sent"
        return None

    def problems(self) -> Iterator[tuple[str, str]]:
        """Variables that are not set, or whose value cannot be sent, as (key, message)."""
        for name in _SECRETS:
            variable = getattr(self, f"{name}_env")
            if variable is not None and not os.environ.get(variable):
                state = "empty" if variable in os.environ else "not set"
                yield f"{name}_env", f"environment variable {variable} is {state} (set {variable})"
            elif variable is not None and (what := self._fault_in(name, os.environ[variable])):
                message = f"the value of the environment variable {variable} holds {what} (set it without)"
                yield f"{name}_env", message

    def variables(self) -> Iterator[tuple[str, str]]:
        """The variables that hold secrets, as (key, name)."""
        for name in _SECRETS:
            if (variable := getattr(self, f"{name}_env")) is not None:
                yield f"{name}_env", variable

    def secret(self, name: str) -> str:
        """The value of the secret ``name``, from the config or its variable. Raises ``ToolFailure``."""
        variable = getattr(self, f"{name}_env")
        found = getattr(self, name) if variable is None else os.environ.get(variable)
        if not found:
            raise auth_failed(f"The credential {name} is not set")
        if what := self._fault_in(name, str(found)):
            raise auth_failed(f"The credential {name} holds {what}")
        return str(found)

    def secrets(self) -> Iterable[str]:
        """Every value that no text may show."""
        for name in _NEEDED[self.type]:
            if name in _SECRETS and name not in ("username", "client_id"):
                variable = getattr(self, f"{name}_env")
                found = getattr(self, name) if variable is None else os.environ.get(variable)
                if found:
                    yield str(found)
        if self.type == "basic" and not any(self.problems()):
            yield basic(self.secret("username"), self.secret("password"))


@dataclass(frozen=True, slots=True)
class RequestCredentials:
    """What a request carries: headers, query parameters, cookies. ``renewable``: another may be had."""

    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[tuple[str, str], ...] = ()
    cookies: tuple[tuple[str, str], ...] = ()
    renewable: bool = False


class TakesToken(Protocol):
    """Who gives the OAuth token."""

    async def __call__(self, auth: HttpAuth) -> str: ...


async def proof_of(auth: HttpAuth | None, token: TakesToken) -> RequestCredentials:
    """What a request carries to prove ``auth``. Raises ``ToolFailure`` when there is no token to be had."""
    if auth is None:
        return RequestCredentials()
    match auth.type:
        case "bearer":
            return RequestCredentials(headers=(("Authorization", f"Bearer {auth.secret('token')}"),))
        case "basic":
            user = basic(auth.secret("username"), auth.secret("password"))
            return RequestCredentials(headers=(("Authorization", f"Basic {user}"),))
        case "oauth2":
            return RequestCredentials(
                headers=(("Authorization", f"Bearer {await token(auth)}"),), renewable=True
            )
        case "api_key":
            pair = ((str(auth.name), auth.secret("value")),)
            if auth.place == "query":
                return RequestCredentials(query=pair)
            return (
                RequestCredentials(cookies=pair)
                if auth.place == "cookie"
                else RequestCredentials(headers=pair)
            )
