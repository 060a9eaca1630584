"""``toolspan-server --describe``: what would be served, told without serving it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import BOUND_S

pytestmark = pytest.mark.requirement("I13.1.12")
HANDLERS = """
from toolspan_server import handler
print("noise")

@handler("greet")
def greet(arguments, context):
    return "Hello!"
"""
CONFIG = """
name: shop
handlers: [greeting.py]
tools:
  registry:
    - {name: greet, description: Greet, implementation: {type: builtin, handler: greet}}
  sources:
    - {type: openapi, file: missing.yaml}
    - {type: openapi, file: api.json}
"""
API = {
    "openapi": "3.1.0",
    "servers": [{"url": "https://api.example.com"}],
    "paths": {f"/{n}": {"get": {"parameters": [{}]}} for n in range(30)} | {"/good": {"get": {}}},
}


def test_tools_sources_and_each_omission_are_printed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "greeting.py").write_text(HANDLERS)
    (tmp_path / "api.json").write_text(json.dumps(API))
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "toolspan_server", "-c", "toolspan.yaml", "--describe"],
        cwd=tmp_path, capture_output=True, text=True, timeout=BOUND_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["name"], [tool["name"] for tool in found["tools"]]) == ("shop", ["greet", "get_good"])
    missing, api = found["sources"]
    assert (missing["state"], missing["error"]) == ("failed", "there is no such file")
    assert (api["state"], api["tools"], len(api["omitted"])) == ("ready", 1, 30)
    assert api["omitted"][0].startswith("GET /0: ")


def test_a_bad_config_is_refused(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text("toolz: 1")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "toolspan_server", "--describe"],
        cwd=tmp_path, capture_output=True, text=True, timeout=BOUND_S, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "toolz" in done.stderr
