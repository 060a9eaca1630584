"""How requests fail, in words for the model. The codes are stable.

``blocked_address``, ``untrusted_certificate``, ``connection_failed``, ``timeout``, ``response_too_large``,
``bad_response``, ``redirected``, ``circuit_open``, ``auth_failed``, ``invalid_parameters``, ``no_match``,
``http_<status>``.
"""

from __future__ import annotations

from ...errors import ToolFailure

_TRY_LATER = "Try again later; if it keeps failing, inform the operator of the server."
_TELL = "Inform the maintainer of the tool's config."


class RequestNotSent(ToolFailure):
    """The request never reached the other side: it may be made again whatever its method."""


class ExchangeBroken(ToolFailure):
    """The exchange broke off: nobody knows whether the other side has acted."""


def blocked(host: str, what: str) -> ToolFailure:
    """The host's address is not to be reached."""
    return ToolFailure(
        f"{host} is not reached: its address is {what}",
        error_code="blocked_address",
        user_action="If it is meant, list the host under allow_private in the tool's config.",
    )


def unresolved(host: str) -> RequestNotSent:
    """The name has no address."""
    return RequestNotSent(f"{host} has no address", error_code="connection_failed", user_action=_TRY_LATER)


def unreachable(host: str, why: str) -> RequestNotSent:
    """No connection could be made."""
    return RequestNotSent(
        f"No connection to {host}: {why}", error_code="connection_failed", user_action=_TRY_LATER
    )


def untrusted(host: str, why: str) -> ToolFailure:
    """The certificate does not prove that it is the host."""
    return ToolFailure(
        f"{host} is not trusted: {why}",
        error_code="untrusted_certificate",
        user_action="If the certificate is right, name its authority as ca_file in the tool's config.",
    )


def unusable_ca(name: str) -> ToolFailure:
    """The file of trusted authorities cannot be read."""
    return ToolFailure(
        f"ca_file {name!r} cannot be read as certificates",
        error_code="untrusted_certificate",
        user_action=_TELL,
    )


def broken_off(host: str, why: str) -> ExchangeBroken:
    """The connection ended before the answer did."""
    return ExchangeBroken(f"{host} broke off: {why}", error_code="connection_failed", user_action=_TRY_LATER)


def timed_out(host: str, timeout_ms: int) -> ToolFailure:
    """All attempts together took too long."""
    return ToolFailure(
        f"{host} did not answer within {timeout_ms} ms",
        error_code="timeout",
        user_action="Try a smaller request, or raise implementation.timeout_ms in the config.",
    )


def too_large(host: str, limit: int) -> ToolFailure:
    """The answer is longer than it may be."""
    return ToolFailure(
        f"The answer of {host} is longer than max_response_bytes: {limit:,}",
        error_code="response_too_large",
        user_action="Ask for less, or raise max_response_bytes in the tool's config.",
    )


def bad_response(what: str, status: int | None = None) -> ToolFailure:
    """The answer, of that status, is not what it should be."""
    return ToolFailure(what, error_code="bad_response", user_action=_TELL, upstream_status=status)


def redirected(host: str, why: str) -> ToolFailure:
    """The other side points elsewhere, and that is not followed."""
    return ToolFailure(
        f"{host} answered with a redirect that is not followed: {why}",
        error_code="redirected",
        user_action=_TELL,
    )


def circuit_open(host: str, seconds: float) -> ToolFailure:
    """The other side has failed too often."""
    return ToolFailure(
        f"{host} has failed repeatedly; it is asked again in {seconds:.0f} s",
        error_code="circuit_open",
        user_action=_TRY_LATER,
    )


def auth_failed(what: str) -> ToolFailure:
    """No token could be had."""
    return ToolFailure(
        what, error_code="auth_failed", user_action="Check the credentials under auth in the config."
    )


def bad_argument(name: str, why: str) -> ToolFailure:
    """An argument that cannot be sent."""
    return ToolFailure(
        f"Invalid parameters: {name} {why}",
        error_code="invalid_parameters",
        user_action="Correct the named parameters and call the tool again.",
    )
