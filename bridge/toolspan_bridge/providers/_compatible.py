"""Any provider that is a row: OpenAI's Chat Completions at some address, with a bearer key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typing_extensions import override

from ..formats.names import NameTable
from ..messages import Request
from ._http import HttpSettings
from ._rows import ROWS, Row
from ._settings import base_url, key_from, optional_key
from ._wire import WireProvider


def connect_row(name: str, settings: HttpSettings) -> WireProvider:
    """The provider of the row ``name``. Raises ``AuthError`` when its key is missing."""
    row = ROWS[name]
    key = optional_key(row.key) if row.local else key_from(name, row.key, where=row.keys_at)
    extra = {header: value for header, held_in in row.headers if (value := optional_key(held_in))}
    return _Compatible(name, row, key, extra, settings)


class _Compatible(WireProvider):
    def __init__(
        self, name: str, row: Row, key: str, extra: Mapping[str, str], settings: HttpSettings
    ) -> None:
        started = f"is it running? Start it with `{row.local}`, or set {row.base}"
        remote = f"check the network, HTTPS_PROXY and {row.base}"
        super().__init__(
            name,
            "openai",
            base_url(row.url, row.base),
            settings,
            variables=row.key,
            hint=started if row.local else remote,
            secret=key,
        )
        self._row = row
        self._sent = {"content-type": "application/json", **extra}
        if key:
            self._sent["authorization"] = f"Bearer {key}"

    @override
    def _url(self, model: str) -> str:
        return f"{self._base}/chat/completions"

    @override
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return self._sent

    @override
    async def _body(self, request: Request, names: NameTable) -> dict[str, Any]:
        body = await super()._body(request, names)
        for known in ("max_completion_tokens", "max_tokens"):
            if known != self._row.limit and known in body:
                body[self._row.limit] = body.pop(known)
        return body
