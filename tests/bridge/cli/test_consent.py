"""Nothing that a folder brings is run before the person, or a flag that they wrote, allowed it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import toolspan
from tests.support.cli import toolspan_process as process
from tests.support.waiting import BOUND_S, eventually
from toolspan_server.config import load_config, untrusted_code
from toolspan_server.errors import ServeError
from toolspan_server.live.config_files import ConfigFiles

pytestmark = [pytest.mark.long, pytest.mark.requirement("I9.1.6")]

MOCK = """
tools:
  registry:
    - name: greet
      description: Greet a person
      implementation: {type: mock, mock_response: hello}
"""
HANDLER = """
from pathlib import Path
from toolspan_server import handler

(Path(__file__).parent / "imported").touch()

@handler("theirs")
def theirs(arguments, context):
    return "theirs ran"
"""
HANDLED = """
handlers: [theirs.py]
tools:
  registry:
    - name: theirs
      description: Run their code
      implementation: {type: builtin, handler: theirs}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "cloned"
    place.mkdir()
    (place / "theirs.py").write_text(HANDLER)
    return place


def write_mcp_json(folder: Path) -> str:
    """A server that shows that it was started; its command line."""
    program = folder / "server.py"
    program.write_text("import pathlib\n(pathlib.Path(__file__).parent / 'started').touch()\n")
    server = {
        "command": sys.executable,
        "args": [str(program), "--key", "${SECRET}"],
        "env": {"A": "b-value"},
    }
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"evil": server}}))
    return f"A=… {sys.executable} {program} --key"


def assert_untouched(folder: Path) -> None:
    assert not (folder / "started").exists() and not (folder / "imported").exists()


def test_a_server_of_a_folders_mcp_json_is_shown_and_not_started(folder: Path) -> None:
    command = write_mcp_json(folder)
    ran = process("tools", "list", cwd=folder, SECRET="s3cr3t-value")
    assert (ran.code, ran.out) == (2, "")
    assert command in ran.err and f"{folder / '.mcp.json'}: $.mcpServers.evil" in ran.err
    assert "--trust" in ran.err and "s3cr3t-value" not in ran.err and "b-value" not in ran.err
    assert_untouched(folder)


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "Hello?"),
        ("chat",),
        ("export", "-f", "openai"),
        ("lint",),
        ("tools", "call", "greet"),
        ("tools", "list"),
        ("tools", "show", "greet"),
        ("validate",),
    ],
    ids=" ".join,
)
def test_no_verb_starts_it_unasked(words: tuple[str, ...], folder: Path) -> None:
    write_mcp_json(folder)
    ran = toolspan(*words, "--json", cwd=folder, SECRET="s3cr3t-value")
    assert (ran.code, ran.error["code"]) == (2, "consent")
    assert_untouched(folder)


def test_trust_starts_it(folder: Path) -> None:
    write_mcp_json(folder)
    assert toolspan("tools", "list", "--trust", cwd=folder, SECRET="s3cr3t-value").code == 4
    assert (folder / "started").exists()


@pytest.mark.parametrize("more", [(), ("--trust",)])
def test_beside_a_named_config_it_is_never_started(more: tuple[str, ...], folder: Path) -> None:
    write_mcp_json(folder)
    (folder / "mine.yaml").write_text(MOCK)
    ran = toolspan("tools", "call", "greet", "--config", "mine.yaml", *more, cwd=folder)
    assert (ran.code, ran.out) == (0, "hello\n")
    assert toolspan("tools", "call", "greet", cwd=folder, TOOLSPAN_CONFIG="mine.yaml").code == 0
    assert_untouched(folder)


def test_a_found_config_of_mocks_runs_without_a_word(folder: Path) -> None:
    (folder / "toolspan.yaml").write_text(MOCK)
    assert toolspan("tools", "call", "greet", cwd=folder).out == "hello\n"


def test_what_is_left_out_and_offers_no_tools_is_no_reason_to_refuse(folder: Path) -> None:
    (folder / "toolspan.yaml").write_text("state_dir: ../mine\n")
    asked = toolspan("ask", "hi", cwd=folder)
    assert asked.code == 0 and "keep state in" in asked.err
    listed = toolspan("tools", "list", cwd=folder)
    assert listed.code == 2 and "toolspan.yaml has none (add some" in listed.err
    (folder / "toolspan.yaml").write_text(f"state_dir: ../mine\n{MOCK}")
    called = toolspan("tools", "call", "nope", cwd=folder)
    assert called.code == 2 and "Tool 'nope' not found (known: greet)" in called.err
    (folder / "toolspan.yaml").write_text(f"state_dir: ../mine\n{HANDLED}")
    refused = toolspan("ask", "hi", cwd=folder)
    assert refused.code == 2 and "what was asked for needs" in refused.err


def test_the_handlers_of_a_found_config_are_imported_only_with_trust_or_by_name(folder: Path) -> None:
    (folder / "toolspan.yaml").write_text(HANDLED)
    refused = toolspan("tools", "call", "theirs", cwd=folder)
    assert refused.code == 2
    assert f"import {folder / 'theirs.py'}" in refused.err
    assert_untouched(folder)
    for more in (("--trust",), ("--config", "toolspan.yaml")):
        assert toolspan("tools", "call", "theirs", *more, cwd=folder).out == "theirs ran\n"
    assert (folder / "imported").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("check", "--json"),
        ("models", "-p", "offline"),
        ("report",),
        ("install", "cursor", "--print"),
        ("install", "cursor", "--remove", "--yes"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("named", [False, True])
def test_verbs_that_only_read_import_nothing(words: tuple[str, ...], named: bool, folder: Path) -> None:
    (folder / "toolspan.yaml").write_text(HANDLED)
    write_mcp_json(folder)
    ran = toolspan(*words, *(["--config", "toolspan.yaml"] if named else []), cwd=folder, HOME=str(folder))
    assert ran.code == (2 if words == ("report",) else 0), ran.err
    assert_untouched(folder)


def test_check_says_what_it_only_read_and_imports_it_with_trust(folder: Path) -> None:
    (folder / "toolspan.yaml").write_text(HANDLED)
    read = toolspan("check", cwd=folder)
    assert read.code == 0 and "read, but not imported: theirs.py" in read.err
    assert toolspan("check", "--json", cwd=folder).json["unchecked"] == ["theirs.py"]
    trusted = process("check", "--trust", "--json", cwd=folder)
    assert trusted.json["unchecked"] == [] and (folder / "imported").exists()


def test_check_still_finds_a_handler_that_no_module_registers(folder: Path) -> None:
    (folder / "toolspan.yaml").write_text(HANDLED.replace("handler: theirs}", "handler: thiers}"))
    ran = toolspan("check", cwd=folder)
    assert ran.code == 2 and "'thiers' not found (did you mean 'theirs'?)" in ran.err
    assert_untouched(folder)


def test_examples_of_a_found_config_are_run_only_with_trust(folder: Path) -> None:
    (folder / "toolspan.yaml").write_text(HANDLED + "      examples: [{result: theirs ran}]\n")
    refused = toolspan("check", "--run-examples", "--json", cwd=folder)
    assert (refused.code, refused.error["code"]) == (2, "consent")
    assert_untouched(folder)
    assert process("check", "--run-examples", "--trust", cwd=folder).code == 0


def test_a_client_is_not_told_to_run_a_found_configs_code_unasked(folder: Path) -> None:
    (folder / "toolspan.yaml").write_text(HANDLED)
    words = ("install", "cursor", "--scope", "project", "--yes")
    assert toolspan(*words, cwd=folder, HOME=str(folder)).code == 2
    assert not (folder / ".cursor").exists()
    assert toolspan(*words, "--config", "toolspan.yaml", cwd=folder, HOME=str(folder)).code == 0
    assert (folder / ".cursor" / "mcp.json").exists()


def test_a_found_config_gets_no_key_for_a_provider_of_its_own(folder: Path) -> None:
    own = "{base_url: 'http://127.0.0.1:1/v1', key_env: OPENAI_API_KEY, replaces: true}"
    (folder / "toolspan.yaml").write_text(f"providers: {{openai: {own}}}\n{MOCK}")
    ran = toolspan("ask", "Hi", "-m", "openai/x", cwd=folder, OPENAI_API_KEY="sk-value-of-it")
    assert ran.code == 2 and "with $OPENAI_API_KEY, to http://127.0.0.1:1/v1" in ran.err
    listed = toolspan("models", "-p", "openai", "--json", cwd=folder, OPENAI_API_KEY="sk-value-of-it")
    assert (listed.code, listed.json["unlisted"][0]["code"]) == (2, "consent")
    trusted = toolspan("ask", "Hi", "-m", "openai/x", "--trust", cwd=folder, OPENAI_API_KEY="sk-value-of-it")
    assert trusted.code == 4


def test_a_package_in_the_folder_does_not_stand_for_ours(folder: Path) -> None:
    (folder / "toolspan.yaml").write_text(MOCK)
    (folder / "toolspan_server").mkdir()
    (folder / "toolspan_server" / "__init__.py").write_text("")
    (folder / "toolspan_server" / "__main__.py").write_text(
        f"import pathlib\npathlib.Path({str(folder / 'started')!r}).touch()\n"
    )
    assert toolspan("tools", "call", "greet", cwd=folder).out == "hello\n"
    assert_untouched(folder)


@pytest.mark.parametrize("words", [("serve",), ("serve", "--trust"), ("serve", "--config", "toolspan.yaml")])
def test_a_found_config_is_served_with_its_code_only_when_that_is_allowed(
    words: tuple[str, ...], folder: Path
) -> None:
    (folder / "toolspan.yaml").write_text(HANDLED)
    ran = process(*words, cwd=folder)
    if len(words) == 1:
        assert ran.code == 2 and f"import {folder / 'theirs.py'}" in ran.err and "--trust" in ran.err
        assert_untouched(folder)
    else:
        assert ran.code == 0 and (folder / "imported").exists()


def test_the_upstreams_of_a_found_config_are_not_started_to_serve_it(folder: Path) -> None:
    upstream = {"command": sys.executable, "args": [str(folder / "server.py")]}
    write_mcp_json(folder)
    tools = {"sources": [{"type": "mcp", "upstream": "up"}]}
    config = {"services": {"upstreams": {"up": upstream}}, "tools": tools}
    (folder / "toolspan.json").write_text(json.dumps(config))
    ran = process("serve", cwd=folder)
    assert ran.code == 2 and "services.upstreams.up" in ran.err
    assert_untouched(folder)


def test_a_found_config_that_comes_to_bring_code_while_it_is_served_is_not_taken(folder: Path) -> None:
    path = folder / "toolspan.yaml"
    path.write_text(MOCK)
    files = ConfigFiles([path], allowed=False)
    files.load()
    path.write_text(HANDLED)
    with pytest.raises(ServeError, match="--trust"):
        files.load()
    assert_untouched(folder)


def test_the_option_trust_holds_for_what_was_read_first(folder: Path) -> None:
    (folder / "toolspan.yaml").write_text(HANDLED)
    command = [sys.executable, "-P", "-m", "toolspan_bridge", "serve", "--trust", "--log-level", "info"]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as served:
        assert served.stdin is not None and served.stderr is not None
        stop = threading.Timer(BOUND_S, served.kill)
        stop.start()
        assert eventually((folder / "imported").exists)
        (folder / "imported").unlink()
        (folder / "theirs.py").write_text((folder / "theirs.py").read_text() + "\n# changed\n")
        (folder / "toolspan.yaml").write_text(f"{HANDLED}\n")
        said = next(line for line in served.stderr if "the changed config" in line)
        served.stdin.close()
        served.stderr.read()
        stop.cancel()
    assert "is not served" in said and not (folder / "imported").exists()


@pytest.mark.requirement("I12.1.17")
@pytest.mark.parametrize(
    ("services", "outside"),
    [
        ({"collections": {"x": {"path": "../mine"}}}, True),
        ({"collections": {"x": {"path": "link"}}}, True),
        ({"collections": {"x": {"path": "docs"}}}, False),
        ({"workspaces": {"x": {"path": "/"}}}, True),
        ({"workspaces": {"x": {"path": ".", "roots": [{"path": "../mine"}]}}}, True),
        ({"workspaces": {"x": {"path": ".", "bash": {"readable": ["~/.ssh"]}}}}, True),
        ({"workspaces": {"x": {"path": "."}}}, False),
        ({"databases": {"x": {"url": "sqlite:///../mine/a.db"}}}, True),
        ({"databases": {"x": {"url": "sqlite:////home/me/a.db?mode=ro"}}}, True),
        ({"databases": {"x": {"url": "sqlite:///a.db"}}}, False),
        ({"state": "../mine"}, True),
    ],
    ids=str,
)
def test_a_found_config_gives_tools_no_file_outside_of_its_folder_unasked(
    services: dict[str, Any], outside: bool, folder: Path
) -> None:
    services = dict(services)
    (folder.parent / "mine").mkdir()
    (folder / "docs").mkdir()
    (folder / "link").symlink_to("../mine")
    state = services.pop("state", ".toolspan")
    document = {
        "services": services,
        "state_dir": state,
        "tools": {"registry": yaml.safe_load(MOCK)["tools"]["registry"]},
    }
    (folder / "toolspan.yaml").write_text(yaml.safe_dump(document))
    config = load_config(folder / "toolspan.yaml", import_handlers=False)
    found = [item for item in untrusted_code(config) if "outside of the folder" in item.what]
    assert bool(found) == outside
    if outside and next(iter(services), "state_dir") != "state_dir":
        alone = {key: part for key, part in document.items() if key != "tools"}
        (folder / "toolspan.yaml").write_text(yaml.safe_dump(alone))
        assert toolspan("ask", "?", cwd=folder).code == 2
        (folder / "toolspan.yaml").write_text(yaml.safe_dump(document))
    if outside:
        restricted = toolspan("tools", "list", cwd=folder)
        assert restricted.code == 0 and "outside of the folder" in restricted.err
