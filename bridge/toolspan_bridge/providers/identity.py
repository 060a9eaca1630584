"""What can be told of a model, so that it is known again: where it is asked, in which format, its version."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from urllib.parse import urlsplit

from ..errors import BridgeError
from .contract import Provider
from .resolve import OwnProviders, resolve_model
from .settings.environment import keys_as_variables
from .wire.provider import WireProvider
from .wire.two_wires import TwoWires

__all__ = ["Identified", "Identity", "identity_of", "known_identity", "wire_of"]


@dataclass(frozen=True, slots=True)
class Identity:
    """``base_url`` (without a name, password or query in it) and ``version`` are empty where there is none,
    or it is not known. ``format_name`` may have a prompt before it, as ``Provider.format_name``."""

    base_url: str = ""
    format_name: str = ""
    version: str = ""


class Identified(ABC):
    """A provider that stands for another one, and tells what can be told of its models."""

    @abstractmethod
    async def identity(self, model: str) -> Identity:
        """The identity of ``model`` at the provider that it stands for."""

    @abstractmethod
    def wire(self, model: str) -> Provider:
        """The provider that it stands for, in the wire format in which ``model`` is asked."""


def wire_of(provider: Provider, model: str) -> Provider:
    """``provider`` in the wire format in which ``model`` is asked."""
    if isinstance(provider, Identified):
        return provider.wire(model)
    return provider.wire_for(model) if isinstance(provider, TwoWires) else provider


async def identity_of(provider: Provider, model: str) -> Identity:
    """The identity of ``model`` at ``provider``, which is asked for the version where it tells one; an error
    leaves that empty: the question itself will meet it."""
    if isinstance(provider, Identified):
        return await provider.identity(model)
    wire = wire_of(provider, model)
    try:
        version = await wire.version_of(model) if isinstance(wire, WireProvider) else ""
    except BridgeError:
        version = ""
    return _identity(provider, model, version)


def known_identity(model: str, own: OwnProviders) -> Identity:
    """The identity of ``provider/model`` as far as it is known without asking: it needs no key.

    Raises ``UsageError`` as ``resolve_model``.
    """
    with keys_as_variables(()):
        provider, name = resolve_model(model, own=own)
    return _identity(provider, name)


def _identity(provider: Provider, model: str, version: str = "") -> Identity:
    wire = wire_of(provider, model)
    if not isinstance(wire, WireProvider):
        return Identity(format_name=wire.format_name)
    return Identity(_without_secrets(wire.base_url), wire.format_name, version)


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
