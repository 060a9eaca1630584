"""Values that no HTTP header can hold are refused where the config says them, by their variable's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.configs import told

pytestmark = pytest.mark.requirement("I24.6.6")

HTTP = '{name: t, description: d, implementation: {type: http, url: "https://a.example/x", %s}}'
PLACES = {
    "an upstream's header": 'mcpServers: {a: {url: "https://a.example/mcp", headers: {X-A: "pre ${VALUE}"}}}',
    "a provider's header": 'providers: {a: {base_url: "https://a.example", headers: {x-a: "${VALUE}"}}}',
    "a tool's header": "tools: {registry: [%s]}" % (HTTP % 'headers: {X-A: "${VALUE}"}'),
    "a bearer token": "tools: {registry: [%s]}" % (HTTP % 'auth: {type: bearer, token: "${VALUE}"}'),
}


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(
    "value", ["caf\u00e9-secret", "secret\r\nX: y", "secret\0", "sec\u200bret", "\u65e5\u672c-secret"]
)
def test_a_value_that_no_header_can_hold_is_refused_by_its_variables_name(
    text: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ: Any = {"VALUE": value}
    lines = told(tmp_path, text, environ=environ)
    assert any("${VALUE}" in line for line in lines), lines
    assert not any("secret" in line or value in line for line in lines)
