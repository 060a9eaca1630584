"""The ``providers`` of a config: others than the known ones, or in their place."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

from toolspan_server.config import ProviderConfig

from .. import catalog
from ..settings.endpoint import Endpoint
from ..settings.environment import held_value, key_from

if TYPE_CHECKING:
    from ..http.settings import HttpSettings
    from ..wire.provider import WireProvider

_ROW_FORMATS = ("openai", "openai-responses")


def connect_own(name: str, config: ProviderConfig, settings: HttpSettings) -> WireProvider:
    """The provider that the config calls ``name``. Raises ``AuthError`` when ``key_env`` holds no key."""
    if config.format in _ROW_FORMATS:
        from .connect import connect_to

        return connect_to(_endpoint(name, config), config.format, settings)
    module = import_module(f"{catalog.__name__}.{config.format}")
    provider: WireProvider = module.connect_to(_endpoint(name, config), settings)
    return provider


def _endpoint(name: str, config: ProviderConfig) -> Endpoint:
    place = f"$.providers.{name}"
    spelled = re.sub(r"\W", "_", name).upper()
    key = held_value(config.api_key or "", f"{spelled}_API_KEY")
    if config.key_env:
        key = key_from(name, config.key_env)
    headers = {
        header: held_value(value, f"{spelled}_{re.sub(r'[^A-Za-z0-9]', '_', header).upper()}")
        for header, value in config.headers.items()
    }
    return Endpoint(
        name,
        config.base_url,
        key,
        variables=config.key_env or f"{place}.api_key",
        hint=f"check the network and {place}.base_url",
        headers=headers,
        limit=config.max_tokens_field or "max_tokens",
    )
