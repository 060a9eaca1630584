"""A secret is taken out of texts however it is spelled there."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cost import at_most
from toolspan_server.common.secrets.redaction import Redactor, Renamed
from toolspan_server.config import secret_pattern
from toolspan_server.engines.http_client._secrets import Secrets
from toolspan_server.engines.upstreams import ServerSpec

pytestmark = pytest.mark.requirement("I9.3.27")

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "stripped": str.strip,
    "repr": repr,
    "repr of bytes": lambda value: repr(value.encode()),
    "repr of repr": lambda value: repr(ValueError(f"Illegal header value {value.encode()!r}")),
    "JSON": json.dumps,
    "JSON within JSON": lambda value: json.dumps(json.dumps(value)),
    "URL": lambda value: quote(value, safe=""),
    "URL, twice": lambda value: quote(quote(value, safe=""), safe=""),
    "form": quote_plus,
    "URL in lower case": lambda value: quote(value, safe="").lower(),
}
VALUES = [
    "plain-token_0.9~",
    "s3cr3t-line1\r\ns3cr3t-line2",
    "ends in a break\n",
    "\"quoted\" and 'so'",
    "back\\slash\\\\es",
    "sm\xf8rrebr\xf8d \U0001f511",
    "a+b/c==",
    "tab\tbell\x07null\x00",
]


# A text in another case is another text.
@pytest.mark.parametrize(
    ("spelling", "value"),
    [(each, value) for each in SPELLINGS for value in VALUES if "lower" not in each or value.islower()],
    ids=ascii,
)
def test_it_is_found_in_every_spelling(spelling: str, value: str) -> None:
    found = secret_pattern([value])
    assert found is not None
    text = f"before {SPELLINGS[spelling](value)} after"
    left = found.sub("***", text)
    assert "***" in left and left.startswith("before ") and left.endswith(" after")
    assert len(left) <= len("before *** after") + len("ValueError(Illegal header value b)") + 12


@given(
    st.text(min_size=4, max_size=12).filter(lambda text: len(text.strip()) >= 4),
    st.sampled_from(list(SPELLINGS)),
)
def test_no_value_is_left_in_its_common_spellings(value: str, spelling: str) -> None:
    if "lower" in spelling:
        return
    found = secret_pattern([value])
    assert found is not None
    assert found.search(SPELLINGS[spelling](value))


def test_no_text_takes_long_to_search() -> None:
    found = secret_pattern(["\\" * 40 + '"' * 40 + "%" * 40, '\\"' * 30])
    assert found is not None
    with at_most(units=2000):
        found.sub("***", "\\" * 20_000 + '"' * 20_000 + "%25" * 20_000)


def test_a_value_is_shown_as_its_variable_in_every_spelling() -> None:
    renamed = Renamed({"line1\nline2": "${KEY}", "a": "${SHORT}"})
    assert (
        renamed("has 'line1\\nline2', \"line1\\\\nline2\" and 'a'")
        == "has '${KEY}', \"${KEY}\" and '${SHORT}'"
    )


def test_what_a_server_says_of_its_own_secrets_is_found_too() -> None:
    spec = ServerSpec("s", env={"TOKEN": "line1\nline2"}, headers={"Authorization": "Bearer tok%en,value"})
    assert spec.redact(r"got 'line1\nline2' and tok%25en%2Cvalue") == "got '***' and ***"


IN_BASE64: dict[str, Callable[[bytes], bytes]] = {
    "Base64": base64.b64encode,
    "URL-safe Base64": base64.urlsafe_b64encode,
    "Basic": lambda value: base64.b64encode(b"user:" + value),
}


REDACTED: dict[str, Callable[[str], Callable[[str], str]]] = {
    "any text": lambda value: Redactor([value]),
    "errors of tools that ask by HTTP": lambda value: Secrets([value]).redact,
    "their results": lambda value: Secrets([value]).redact_all,
    "MCP servers": lambda value: ServerSpec("s", headers={"Authorization": f"Bearer {value}"}).redact,
}


@pytest.mark.parametrize("form", IN_BASE64)
@pytest.mark.parametrize("room", REDACTED)
def test_it_is_found_in_base64(room: str, form: str) -> None:
    written = IN_BASE64[form](b"sk-of>>the??server/123").decode()
    left = REDACTED[room]("sk-of>>the??server/123")(f"you sent {written}, and it is wrong")
    assert "***" in left and written[8:-8] not in left
    assert left.startswith("you sent ") and left.endswith(", and it is wrong")


def test_a_token_with_a_line_break_is_refused_and_not_shown(tmp_path: Path) -> None:
    auth = {"type": "bearer", "token_env": "TOKEN"}
    implementation = {"type": "http", "url": "https://api.example.com", "auth": auth}
    tool = {"name": "get", "description": "d", "implementation": implementation}
    (tmp_path / "c.json").write_text(json.dumps({"tools": {"registry": [tool]}}))
    done = subprocess.run(
        [sys.executable, "-m", "toolspan_server", "--config", "c.json", "--log-level", "debug"],
        cwd=tmp_path,
        env={"TOKEN": "s3cr3t-line1\r\ns3cr3t-line2"},
        input="",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "TOKEN" in done.stderr
    assert "s3cr3t" not in done.stdout + done.stderr
