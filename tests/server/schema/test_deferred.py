"""A deferred record is imported when there is data for it, and holds data to what the record says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import BOUND_S
from toolspan_server.config.models.config import Config
from toolspan_server.errors import ConfigError

PROGRAM = """
import sys
from toolspan_server.config import load_config

load_config(sys.argv[1])
prefix = "toolspan_server."
print(*sorted(name.removeprefix(prefix) for name in sys.modules if name.startswith(prefix)))
"""

DEFERRED = {
    "auth: {tokens: [{name: ann, token: aaaabbbbccccdddd}]}": "config.models.auth",
    "prompts: [{name: hello, messages: [{text: Hello}]}]": "config.models.prompts",
    "providers: {mine: {base_url: 'https://llm.example.com/v1'}}": "config.models.providers",
    "resources: [{uri: 'a:b', name: b, text: c}]": "config.models.resources",
    "resource_templates: [{uri_template: 'a:{b}', name: b, text: c}]": "config.models.resources",
    "responses: [{model: gpt-5}]": "config.models.routes",
    "toolsets: {all: {}}": "config.models.toolsets",
    "mcpServers: {files: {command: files}}": "schema.mcp_server",
    "services: {collections: {docs: {path: docs}}}": "tools.services.collections",
    "services: {databases: {main: {url: 'sqlite:///data.db'}}}": "tools.services.databases",
    "services: {upstreams: {files: {command: files}}}": "tools.services.upstreams",
}


def imported(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "toolspan.yaml"
    file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(file)],
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.requirement("I10.7.1")
def test_a_config_imports_the_records_of_the_keys_that_it_has_and_of_no_others(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    everything = "\n".join(line for line in DEFERRED if not line.startswith("services"))
    services = ", ".join(
        line.removeprefix("services: {").removesuffix("}") for line in DEFERRED if line.startswith("services")
    )
    assert not set(DEFERRED.values()) & set(imported(tmp_path, "tools: {registry: []}"))
    assert set(DEFERRED.values()) <= set(imported(tmp_path, f"{everything}\nservices: {{{services}}}"))


@pytest.mark.requirement("I10.7.1")
def test_faults_inside_a_deferred_record_have_their_place_and_hint(tmp_path: Path) -> None:
    file = tmp_path / "toolspan.yaml"
    file.write_text("toolsets:\n  all:\n    tolls: [a]\nservices:\n  collections:\n    docs: {path: 3}\n")
    from toolspan_server.config import load_config

    with pytest.raises(ConfigError) as caught:
        load_config(file)
    assert [str(problem).removeprefix(str(file)) for problem in caught.value.problems] == [
        ":3:5: $.toolsets.all.tolls: unknown key 'tolls' (did you mean 'tools'?)",
        ":6:18: $.services.collections.docs.path: must be a string, not 3 (put it in quotes)",
    ]


@pytest.mark.requirement("I10.7.1")
def test_a_record_and_null_are_taken_as_they_are() -> None:
    first = Config.model_validate({"toolsets": {"all": {"tags": ["x"]}}, "auth": None})
    again = Config.model_validate({"toolsets": first.toolsets})
    assert again.toolsets["all"] is first.toolsets["all"]
    assert first.auth is None
