"""An operation's security as ``auth`` of the kind ``http``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from ...schema.constraints import Limits
from ...schema.records import (
    Record,
    key,
)
from ._description import (
    Description,
    Operation,
    list_at,
    object_at,
    text_at,
)
from ._errors import UnusableOperation

_Secret = Annotated[str, Limits(least=1, most=10_000)]
_Variable = Annotated[str, Limits(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class HttpCredentials(Record):
    """The credentials for one security scheme of the description; the scheme says how they are sent."""

    value: _Secret | None = key("The API key or bearer token.", default=None, hidden=True)
    value_env: _Variable | None = key("The environment variable that holds it.", default=None)
    username: _Secret | None = key("The user name.", default=None, hidden=True)
    username_env: _Variable | None = key("The environment variable that holds it.", default=None)
    password: _Secret | None = key("The password.", default=None, hidden=True)
    password_env: _Variable | None = key("The environment variable that holds it.", default=None)
    client_id: _Secret | None = key("The OAuth client's id.", default=None, hidden=True)
    client_id_env: _Variable | None = key("The environment variable that holds it.", default=None)
    client_secret: _Secret | None = key("The OAuth client's secret.", default=None, hidden=True)
    client_secret_env: _Variable | None = key("The environment variable that holds it.", default=None)

    def variables(self) -> Iterator[tuple[str, str]]:
        """The variables that hold secrets, as (key, name)."""
        for name in self.model_fields:
            if name.endswith("_env") and (variable := getattr(self, name)) is not None:
                yield name, variable

    def problems(self) -> Iterator[str]:
        """Variables that are not set."""
        for name, variable in self.variables():
            if not os.environ.get(variable):
                yield f"{name}: environment variable {variable} is not set (set {variable})"

    def secrets(self) -> Iterator[str]:
        """Every value that no text may show."""
        for name in ("value", "password", "client_secret"):
            variable = getattr(self, f"{name}_env")
            found = getattr(self, name) if variable is None else os.environ.get(variable)
            if found:
                yield str(found)


def auth_of(
    description: Description, operation: Operation, credentials: Mapping[str, HttpCredentials]
) -> dict[str, Any] | None:
    """``auth`` for the first way to be let in that ``credentials`` cover; ``None`` when none is needed.

    Raises ``UnusableOperation`` when they cover none.
    """
    ways = operation.data.get("security", description.data.get("security"))
    alternatives = [object_at(way) for way in list_at(ways)]
    for way in alternatives:
        if len(way) == 1 and (name := next(iter(way))) in credentials:
            return _auth(description, name, list_at(way[name]), credentials[name])
    if not alternatives or {} in alternatives:
        return None
    wanted = sorted({name for way in alternatives for name in way})
    raise UnusableOperation(f"it needs credentials for one of: {', '.join(wanted)[:200]}")


def _auth(description: Description, name: str, scopes: list[Any], given: HttpCredentials) -> dict[str, Any]:
    schemes = object_at(object_at(description.data.get("components")).get("securitySchemes"))
    scheme = description.resolved(schemes.get(name))
    kind, way = text_at(scheme.get("type")), text_at(scheme.get("scheme")).lower()
    if kind == "apiKey":
        key_at = {"name": text_at(scheme.get("name")), "in": text_at(scheme.get("in"))}
        return {"type": "api_key", **key_at, **_auth_options(given, value="value")}
    if kind == "http" and way == "basic":
        return {"type": "basic", **_auth_options(given, username="username", password="password")}
    if kind == "http" and way == "bearer":
        return {"type": "bearer", **_auth_options(given, value="token")}
    if kind == "oauth2":
        flow = object_at(object_at(scheme.get("flows")).get("clientCredentials"))
        if given.client_id or given.client_id_env:
            asked = [scope for scope in scopes if isinstance(scope, str)]
            where = {"token_url": text_at(flow.get("tokenUrl")), "scopes": asked}
            return {
                "type": "oauth2",
                **where,
                **_auth_options(given, client_id="client_id", client_secret="client_secret"),
            }
    if kind in ("oauth2", "openIdConnect"):
        return {"type": "bearer", **_auth_options(given, value="token")}
    raise UnusableOperation(f"the security scheme {name[:60]!r} is of no type that is known")


def _auth_options(credentials: HttpCredentials, **names: str) -> dict[str, str]:
    """What ``credentials`` have, under the names of ``auth``."""
    found: dict[str, str] = {}
    for ours, theirs in names.items():
        for end in ("", "_env"):
            if (value := getattr(credentials, ours + end)) is not None:
                found[theirs + end] = value
    return found
