"""Settings of a provider's own web search: of a route, and of the command line, which wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.wire_peers import wires
from toolspan_bridge.cli.inputs.web_search import read_search
from toolspan_bridge.errors import UsageError

pytestmark = pytest.mark.requirement("I11.3.7")

ROUTE = """
responses:
  - match: {}
    llm: anthropic
    model: claude-opus-4-5
    tools:
      allowed_tools: ["builtin:web_search"]
      web_search: {allowed_domains: [python.org], country: DE, city: Berlin, max_uses: 3}
"""


def searched(folder: Path, *more: str) -> dict[str, Any]:
    (folder / "toolspan.yaml").write_text(ROUTE)
    with FakeProvider(anything, [Sent(wires("anthropic").answer("So."))]) as fake:
        held = {"ANTHROPIC_API_KEY": "sk-secret", "ANTHROPIC_BASE_URL": fake.url}
        ran = toolspan("ask", "any news?", "--trust", *more, cwd=folder, **held)
    assert ran.code == 0, ran.err
    (tool,) = fake.received[0].body["tools"]
    return dict(tool)


def test_a_route_s_settings_reach_the_provider_and_options_win(tmp_path: Path) -> None:
    tool = searched(tmp_path)
    assert (tool["allowed_domains"], tool["max_uses"]) == (["python.org"], 3)
    assert tool["user_location"] == {"type": "approximate", "country": "DE", "city": "Berlin"}
    tool = searched(tmp_path, "--search", "allowed_domains=a.org, b.org", "--search", "country=FR")
    assert (tool["allowed_domains"], tool["max_uses"]) == (["a.org", "b.org"], 3)
    assert tool["user_location"] == {"type": "approximate", "country": "FR"}


@pytest.mark.parametrize(
    "given", ["", "country", "country=", "town=Oslo", "max_uses=many", "max_uses=0", "latitude=91"]
)
def test_what_is_no_setting_is_refused(given: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="write KEY=VALUE"):
        read_search([given])
    assert toolspan("ask", "x", "--search", given, cwd=tmp_path).code == 2


@pytest.mark.requirement("I11.3.22")
def test_a_time_and_a_place_are_read_as_apis_take_them() -> None:
    read = read_search(["start_time=2026-01-31", "end_time=2026-02-01T01:00+01:00", "latitude=-33.9"])
    assert read == {
        "start_time": "2026-01-31T00:00:00Z",
        "end_time": "2026-02-01T00:00:00Z",
        "latitude": -33.9,
    }
    for given in ("start_time=soon", "end_time=2026-13-01"):
        with pytest.raises(UsageError, match="is no day or time"):
            read_search([given])


@pytest.mark.requirement("I11.3.22")
def test_a_setting_that_the_provider_lacks_is_said_to_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(ROUTE.replace("max_uses: 3", "start_time: '2026-01-31'"))
    with FakeProvider(anything, [Sent(wires("anthropic").answer("So."))]) as fake:
        held = {"ANTHROPIC_API_KEY": "sk-secret", "ANTHROPIC_BASE_URL": fake.url}
        ran = toolspan("ask", "any news?", "--trust", cwd=tmp_path, **held)
    assert ran.code == 0 and "Anthropic's web_search takes no start_time: left out" in ran.err
    (tmp_path / "toolspan.yaml").write_text(ROUTE.replace("max_uses: 3", "start_time: soon"))
    refused = toolspan("check", cwd=tmp_path)
    assert refused.code == 2 and "'soon' is no day or time" in refused.err
