"""A person signs in: asked first, then with a browser here or with a code on another device."""

from __future__ import annotations

from toolspan_server.schema.oauth_client import OAuthClientConfig

from ..errors import AuthError
from ._addresses import host_of
from ._requests import Requests
from .browser_flow import sign_in_by_browser
from .device_flow import sign_in_by_device
from .discovery import Authority
from .person import SignInRequest, SignInWay
from .sign_in import Client, SignIn


async def signed_in_by_person(
    requests: Requests,
    authority: Authority,
    settings: OAuthClientConfig,
    way: SignInWay,
    request: SignInRequest,
    known: Client | None,
) -> SignIn:
    """The sign-in at ``authority`` that ``request`` asks the person for, as the client ``known`` if it can be
    used again. Raises ``AuthError``."""
    where = host_of(authority.issuer)
    if way.person is None or not await way.person.allows(request):
        raise AuthError(f"the sign-in to {request.name} at {where} was not allowed")
    by_device = way.device or not way.person.has_browser
    if by_device and authority.device_endpoint:
        flow = sign_in_by_device
    elif way.device:
        raise AuthError(f"{where} signs in nobody by a device code: leave --device out")
    else:
        flow = sign_in_by_browser
    return await flow(requests, authority, settings, way.person, request.scopes, known, way.seconds)
