"""Who signs people in to a server, and where: RFC 9728, RFC 8414 and OpenID Connect Discovery."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    issuers_match,
)
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import AnyHttpUrl, BaseModel, ValidationError

from ..errors import AuthError
from ._addresses import checked, host_of, origin
from ._requests import Requests
from .challenge import Challenge
from .proofs import ALGORITHM, new_key
from .sign_in import Client, SignIn

_M = TypeVar("_M", bound=BaseModel)


class Metadata(OAuthMetadata):
    """RFC 8414's metadata, with the endpoint of RFC 8628 and the algorithms of RFC 9449."""

    device_authorization_endpoint: AnyHttpUrl | None = None
    dpop_signing_alg_values_supported: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Authority:
    """The authorization server of an MCP server. ``resource`` is the MCP server's identifier as it publishes
    it, empty for an identity provider, which is its own ``server``; ``scopes`` those that it names. Without
    ``metadata`` the endpoints are those of MCP 2025-03-26. ``binds``: both servers know tokens that are bound
    to a key (RFC 9449).
    """

    server: str
    resource: str
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str = ""
    device_endpoint: str = ""
    revocation_endpoint: str = ""
    scopes: tuple[str, ...] | None = None
    metadata: Metadata | None = None
    binds: bool = False

    def unsigned(self, client: Client, scopes: tuple[str, ...]) -> SignIn:
        """A sign-in here as ``client`` that has no tokens yet."""
        return SignIn(
            self.server,
            self.issuer,
            self.token_endpoint,
            self.resource,
            client,
            scopes=scopes,
            revocation_endpoint=self.revocation_endpoint,
            proof_key=new_key() if self.binds else "",
        )

    def lists(self, name: str, value: str) -> bool:
        """Whether the metadata's list ``name`` holds ``value``."""
        return value in (getattr(self.metadata, name, None) or ())


async def discover(
    requests: Requests, server: str, challenge: Challenge, issuer: str = ""
) -> Authority | None:
    """The authority for the MCP server at the URL ``server``, which answered with ``challenge``.

    ``issuer`` is the one that is wanted where there are several. ``None``: the server says of no one that
    would sign people in. Raises ``AuthError`` for metadata that is not the server's, or not safe.
    """
    published = await _protected_resource(requests, server, challenge)
    if published is None:
        return await _legacy(requests, server, challenge)
    resource = str(published.resource)
    if not check_resource_allowed(
        requested_resource=resource_url_from_server_url(server), configured_resource=resource
    ):
        raise AuthError(
            f"{host_of(server)} publishes the metadata of another resource, {resource!r}: refused"
        )
    offered = [str(url) for url in published.authorization_servers]
    chosen = next((each for each in offered if issuers_match(each, issuer)), offered[0])
    checked(chosen, "authorization server", server)
    metadata = await _metadata(requests, server, chosen, chosen)
    if metadata is None:
        raise AuthError(f"{host_of(chosen)}, which signs in to {host_of(server)}, publishes no metadata")
    scopes = published.scopes_supported
    authority = _authority(server, resource, metadata, None if scopes is None else tuple(scopes))
    takes_proof = challenge.takes_proof or published.dpop_bound_access_tokens_required is True
    takes_proof = takes_proof or ALGORITHM in (published.dpop_signing_alg_values_supported or ())
    return replace(
        authority, binds=takes_proof and authority.lists("dpop_signing_alg_values_supported", ALGORITHM)
    )


async def identity_provider(requests: Requests, issuer: str) -> Authority:
    """The identity provider ``issuer``, which the config names. Raises ``AuthError``."""
    checked(issuer, "issuer", issuer)
    if (metadata := await _metadata(requests, issuer, issuer, issuer)) is None:
        raise AuthError(f"{host_of(issuer)}, the identity provider, publishes no metadata")
    return _authority(issuer, "", metadata, None)


async def _protected_resource(
    requests: Requests, server: str, challenge: Challenge
) -> ProtectedResourceMetadata | None:
    """The first metadata found. An address that the challenge names on another origin is not asked."""
    named = challenge.resource_metadata
    own = named if named and origin(named) == origin(server) else None
    for url in build_protected_resource_metadata_discovery_urls(own, server):
        reply = await requests.get(url)
        if reply.status == 429 or reply.status >= 500:
            raise AuthError(f"{host_of(server)} answered HTTP {reply.status} when asked how to sign in")
        if reply.status == 200 and (found := _parsed(ProtectedResourceMetadata, reply.data)):
            return found
    return None


async def _legacy(requests: Requests, server: str, challenge: Challenge) -> Authority | None:
    """MCP 2025-03-26: the server is its own authorization server, at its origin."""
    parts = urlsplit(server)
    base = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    resource = resource_url_from_server_url(server)
    metadata = await _metadata(requests, server, None, base)
    if metadata is not None:
        return _authority(server, resource, metadata, None)
    if not challenge.asks_for_token:
        return None
    checked(base, "authorization server", server)
    return Authority(server, resource, base, f"{base}/authorize", f"{base}/token", f"{base}/register")


async def _metadata(requests: Requests, server: str, advertised: str | None, issuer: str) -> Metadata | None:
    """The metadata of ``issuer``. Raises ``AuthError`` for that of another one (RFC 8414, section 3.3).

    Where none is ``advertised``, as before MCP 2025-06-18, any issuer of the server's origin is its own.
    """
    for url in build_oauth_authorization_server_metadata_discovery_urls(advertised, server):
        reply = await requests.get(url)
        if reply.status == 429 or reply.status >= 500:
            raise AuthError(f"{host_of(url)} answered HTTP {reply.status} when asked for its metadata")
        if reply.status != 200 or (found := _parsed(Metadata, reply.data)) is None:
            continue
        says = str(found.issuer)
        if not issuers_match(says, issuer) and not (advertised is None and origin(says) == origin(issuer)):
            raise AuthError(f"{host_of(url)} publishes the metadata of another issuer, {says!r}: refused")
        return found
    return None


def _authority(server: str, resource: str, metadata: Metadata, scopes: tuple[str, ...] | None) -> Authority:
    def endpoint(name: str, what: str) -> str:
        url = getattr(metadata, name)
        return "" if url is None else checked(str(url), what, server)

    return Authority(
        server,
        resource,
        str(metadata.issuer),
        endpoint("authorization_endpoint", "authorization endpoint"),
        endpoint("token_endpoint", "token endpoint"),
        endpoint("registration_endpoint", "registration endpoint"),
        endpoint("device_authorization_endpoint", "device authorization endpoint"),
        endpoint("revocation_endpoint", "revocation endpoint"),
        scopes,
        metadata,
    )


def _parsed(kind: type[_M], data: Any) -> _M | None:
    try:
        return kind.model_validate(data)
    except ValidationError:
        return None
