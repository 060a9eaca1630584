"""Signing in on another device, where there is no browser here (RFC 8628)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from toolspan_server.schema.oauth_client import OAuthClientConfig

from ..errors import AuthError
from ._addresses import checked, host_of
from ._requests import Requests
from .discovery import Authority
from .person import DeviceCode, SignInPerson
from .registration import DEVICE_GRANT, client_for
from .sign_in import Client, SignIn
from .tokens import TokenRefused, authenticate, granted, refusal

_INTERVAL = 5.0
_SLOWER = 5.0
_LEAST_INTERVAL, _LONGEST_INTERVAL = 1.0, 60.0
_LONGEST_CODE = 100
_REDIRECT = "http://127.0.0.1/callback"
"""A client registers with a redirect URI, although this flow uses none."""


async def sign_in_by_device(
    requests: Requests,
    authority: Authority,
    settings: OAuthClientConfig,
    person: SignInPerson,
    scopes: tuple[str, ...],
    kept: Client | None,
    seconds: float,
) -> SignIn:
    """The tokens for the code that the person types on any device in ``seconds``. Raises ``AuthError``."""
    client = kept or await client_for(requests, authority, settings, _REDIRECT, scopes)
    signed = authority.unsigned(client, scopes)
    form = {"resource": authority.resource} if authority.resource else {}
    if scopes:
        form["scope"] = " ".join(scopes)
    headers = authenticate(signed, form, settings)
    reply = await requests.post_form(authority.device_endpoint, form, headers)
    if reply.status != 200:
        raise refusal(reply, authority.device_endpoint)
    code = _code(authority, reply.data, seconds)
    await person.show_code(code)
    grant = {"grant_type": DEVICE_GRANT, "device_code": str(reply.data["device_code"])}
    try:
        with anyio.fail_after(code.seconds):
            return await _polled(
                requests, signed, grant, settings, _number(reply.data.get("interval"), _INTERVAL)
            )
    except TimeoutError:
        raise AuthError(f"nobody signed in within {code.seconds:g} s{_why(code, seconds)}") from None
    except TokenRefused as refused:
        raise AuthError(_sentence(refused, host_of(signed.token_endpoint))) from None


async def _polled(
    requests: Requests, signed: SignIn, grant: Mapping[str, str], settings: OAuthClientConfig, interval: float
) -> SignIn:
    pause = min(max(interval, _LEAST_INTERVAL), _LONGEST_INTERVAL)
    while True:
        await anyio.sleep(pause)
        try:
            return await granted(requests, signed, grant, settings)
        except TokenRefused as refused:
            if refused.error == "slow_down":
                pause = min(pause + _SLOWER, _LONGEST_INTERVAL)
            elif refused.error != "authorization_pending":
                raise


def _why(code: DeviceCode, seconds: float) -> str:
    """What to do about a time that was over."""
    if code.seconds < seconds:
        return ", which is how long the code was good: sign in again for another"
    return " (--timeout allows more)"


def _sentence(refused: TokenRefused, host: str) -> str:
    """What ``refused`` says in the place of tokens (RFC 8628, 3.5)."""
    if refused.error == "access_denied":
        return f"the sign-in was refused on the other device ({host}: {refused.error})"
    if refused.error == "expired_token":
        return f"the code was not used in time ({host}: {refused.error}): sign in again for another"
    return str(refused)


def _code(authority: Authority, data: Mapping[str, Any], seconds: float) -> DeviceCode:
    where = host_of(authority.issuer)
    code, url = data.get("user_code"), data.get("verification_uri")
    if not isinstance(data.get("device_code"), str) or not isinstance(url, str):
        raise AuthError(f"{where} answered without a device code and an address to open")
    if not isinstance(code, str) or not 0 < len(code) <= _LONGEST_CODE or not code.isprintable():
        raise AuthError(f"{where} answered without a code that can be typed")
    whole = data.get("verification_uri_complete")
    what = "address to open"
    return DeviceCode(
        checked(url, what, authority.server),
        code,
        min(seconds, _number(data.get("expires_in"), seconds)),
        checked(whole, what, authority.server) if isinstance(whole, str) else "",
    )


def _number(value: Any, default: float) -> float:
    return float(value) if isinstance(value, int | float) and value > 0 else default
