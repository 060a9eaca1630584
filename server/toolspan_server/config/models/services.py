"""``services``: the services that internal handlers use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...parts.service import SERVICES, ServiceConfig
from ...schema.keys import PARTS
from ...schema.records import Record, key


class ServicesConfig(Record):
    """The services that internal handlers use. Each describes its own key (``ServiceConfig.about``)."""

    __annotations__ = {name: SERVICES.deferred(name) | None for name in SERVICES.names}
    vars().update({name: key(default=None, inert=PARTS) for name in SERVICES.names})

    def entries(self, service: str) -> Mapping[str, Any]:
        """The entries of ``service`` by name; none where it is not configured."""
        config: ServiceConfig | None = getattr(self, service)
        return {} if config is None else config.root

    def configured(self) -> dict[str, ServiceConfig]:
        """Each configured service's config, by the service's name."""
        return {name: value for name in type(self).model_fields if (value := getattr(self, name)) is not None}
