"""A fingerprint's parts as they are now, as far as they are known without asking a server or a model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from toolspan_server.config import Config

from ...errors import BridgeError
from ...providers.resolve import own_providers, with_choice
from ..evidence.records import Present, Record
from ..fingerprint import mode_parts, toolspan_version
from ..stores import store_of
from ..wordings.chosen import ChosenWordings

__all__ = ["present_of"]


def present_of(config: Config, also: Mapping[str, str] | None = None) -> Present:
    """What tells of a record how its fingerprint would be now, by ``config``: its provider's address and
    format, the mode with its wording or rendering, and this program's version; and ``also``, which the caller
    knows."""
    from ...providers.identity import known_identity

    chosen = ChosenWordings(store_of(config))

    @cache
    def of_model(model_id: str) -> Mapping[str, str]:
        try:
            own = own_providers(config)
            identity = known_identity(with_choice(model_id, own, chosen), own)
        except BridgeError:
            return {}  # a provider that the config no longer has says nothing
        parts = {**mode_parts(identity.format_name), "base_url": identity.base_url}
        return {name: value for name, value in parts.items() if value or name == "wording"}

    def present(record: Record) -> Mapping[str, str]:
        known = record.fingerprint.known if record.fingerprint else {}
        now = {**of_model(record.model_id), "toolspan": toolspan_version(), **(also or {})}
        return {name: value for name, value in now.items() if name in known or name == "wording"}

    return present
