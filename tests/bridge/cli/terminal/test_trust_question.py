"""The question whether a folder may run what it brings, at a real terminal, with real servers."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.cli import toolspan
from tests.support.cli import toolspan_process as process
from tests.support.terminal import Terminal
from tests.support.upstreams import SERVERS

pytestmark = [pytest.mark.requirement("I12.1.14"), pytest.mark.long]

CTRL_C, CTRL_D = "\x03", "\x04"
HANDLED = """
handlers: [theirs.py]
tools:
  registry:
    - name: theirs
      description: Run their code
      implementation: {type: builtin, handler: theirs}
      examples: [{result: theirs ran}]
"""
HANDLER = """
from pathlib import Path
from toolspan_server import handler

(Path(__file__).parent / "started.log").touch()

@handler("theirs")
def theirs(arguments, context):
    return "theirs ran"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as it was cloned, with a server that leaves ``started`` behind when it is started."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = tmp_path / "cloned"
    place.mkdir()
    mark = "from pathlib import Path\n(Path(__file__).parent / 'started.log').touch()\n"
    text = (SERVERS / "listing.py").read_text().replace("import json\n", f"import json\n{mark}", 1)
    (place / "server.py").write_text(text)
    (place / "tools.json").write_text('[{"name": "look", "inputSchema": {"type": "object"}}]')
    write(place)
    return place


def write(folder: Path, *more: str) -> None:
    entry = {"command": sys.executable, "args": ["server.py", "tools.json", *more], "env": {"A": "b-value"}}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": entry}}))


def started(folder: Path) -> bool:
    mark = folder / "started.log"
    there = mark.exists()
    mark.unlink(missing_ok=True)
    return there


def answered(folder: Path, keys: str, *words: str, code: int = 0) -> str:
    """Answer the question of ``toolspan WORDS`` and give what was shown up to it."""
    with Terminal(*words, cwd=folder) as terminal:
        shown = terminal.until("Trust it as it is now? [y/N]:")
        terminal.type(keys)
        assert terminal.ended() == code, terminal.shown
        return shown


def unasked(folder: Path, *words: str, code: int = 0) -> None:
    with Terminal(*words, cwd=folder) as terminal:
        assert terminal.ended() == code, terminal.shown
        assert "Trust it" not in terminal.shown


@pytest.mark.parametrize(
    ("keys", "code"),
    [("\r", 2), ("n\r", 2), (CTRL_D, 130), (CTRL_C, 130)],
    ids=["enter", "n", "ctrl-d", "ctrl-c"],
)
def test_what_is_not_yes_is_no_and_nothing_is_started(keys: str, code: int, folder: Path) -> None:
    shown = answered(folder, keys, "tools", "list", code=code)
    assert f"A=… {sys.executable} server.py tools.json" in shown and "$.mcpServers.theirs" in shown
    assert "b-value" not in shown
    assert not started(folder)


def test_what_decides_which_code_a_server_runs_is_shown(folder: Path) -> None:
    variables = {"UV_INDEX_URL": "https://evil.example/simple", "TOKEN": "token-value"}
    entry = {"command": "uvx", "args": ["good"], "env": variables, "cwd": "sub", "allowDangerousEnv": True}
    document = json.dumps({"mcpServers": {"theirs": entry}})
    for name in (".mcp.json", "toolspan.json"):
        (folder / name).write_text(document)
        shown = answered(folder, "n\r", "tools", "list", code=2)
        assert "UV_INDEX_URL=https://evil.example/simple TOKEN=… uvx good (in sub)" in shown
        assert "token-value" not in shown


def test_a_yes_is_remembered_until_something_changes_which_is_shown(folder: Path) -> None:
    answered(folder, "y\r", "tools", "list")
    assert started(folder)
    unasked(folder, "tools", "list")
    assert process("tools", "list", cwd=folder).code == 0
    write(folder, "--more")
    assert process("tools", "list", cwd=folder).code == 2
    shown = answered(folder, "y\r", "tools", "list")
    assert "has changed" in shown and "changed since you allowed it: args" in shown
    assert f"- A=… {sys.executable} server.py tools.json" in shown
    assert f"+ A=… {sys.executable} server.py tools.json --more" in shown
    unasked(folder, "tools", "list")
    with (folder / "server.py").open("a") as program:
        program.write("# another\n")
    assert "changed since you allowed it: file server.py" in answered(folder, "n\r", "tools", "list", code=2)


def test_another_folder_of_the_same_content_is_asked_about(folder: Path) -> None:
    answered(folder, "y\r", "tools", "list")
    shutil.copytree(folder, folder.parent / "copy")
    answered(folder.parent / "copy", "n\r", "tools", "list", code=2)


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        ("ask", "Hello?", "-m", "offline/keyword"),
        ("export", "-f", "openai"),
        ("lint",),
        ("tools", "call", "look"),
        ("tools", "show", "look"),
        ("lock",),
        ("validate",),
    ],
    ids=" ".join,
)
def test_every_verb_that_would_run_it_asks(words: tuple[str, ...], folder: Path) -> None:
    answered(folder, "n\r", *words, code=2)
    assert not started(folder)


def test_trust_by_the_flag_is_not_remembered(folder: Path) -> None:
    assert process("tools", "list", "--trust", cwd=folder).code == 0
    assert started(folder)
    assert process("tools", "list", cwd=folder).code == 2


@pytest.mark.long
def test_handlers_are_asked_about_and_then_run_by_every_verb_that_needs_them(folder: Path) -> None:
    (folder / ".mcp.json").unlink()
    (folder / "theirs.py").write_text(HANDLER)
    (folder / "toolspan.yaml").write_text(HANDLED)
    assert "import" in answered(folder, "y\r", "check", "--run-examples")
    assert started(folder)
    for words in (["tools", "call", "theirs"], ["check", "--run-examples"], ["serve"]):
        ran = process(*words, cwd=folder)
        assert ran.code == 0 and started(folder), ran.err
    home = {"HOME": str(folder)}
    assert process("install", "cursor", "--scope", "project", "--yes", cwd=folder, **home).code == 0
    (folder / "theirs.py").write_text(HANDLER + "\n# another\n")
    for words in (["tools", "call", "theirs"], ["check", "--run-examples"], ["serve"]):
        ran = process(*words, cwd=folder)
        assert ran.code == 2 and not started(folder), ran.err
    assert "changed since you allowed it: file theirs.py" in answered(
        folder, "n\r", "tools", "call", "theirs", code=2
    )


def test_a_server_over_http_asks_before_it_serves_what_was_found(folder: Path) -> None:
    (folder / "theirs.py").write_text(HANDLER)
    (folder / "toolspan.yaml").write_text(HANDLED)
    words = ("serve", "--transport", "http", "--port", "0")
    answered(folder, "n\r", *words, code=2)
    assert not started(folder)
    with Terminal(*words, cwd=folder) as terminal:
        terminal.until("[y/N]:")
        terminal.type("y\r")
        terminal.until("serving 1 tool at")
        assert started(folder)
        terminal.type(CTRL_C)
        terminal.ended()


def test_a_provider_of_a_found_config_is_asked_about_before_anything_is_sent_to_it(folder: Path) -> None:
    (folder / ".mcp.json").unlink()
    own = "{base_url: 'http://127.0.0.1:1/v1'}"
    (folder / "toolspan.yaml").write_text(f"providers: {{mine: {own}}}\n")
    shown = answered(folder, "n\r", "ask", "Hi", "-m", "mine/x", code=2)
    assert "send the conversation" in shown and "http://127.0.0.1:1/v1" in shown
    answered(folder, CTRL_C, "ask", "Hi", "-m", "mine/x", code=130)
    answered(folder, "y\r", "ask", "Hi", "-m", "mine/x", code=4)
    unasked(folder, "ask", "Hi", "-m", "mine/x", code=4)


def test_a_compiled_file_beside_a_handler_does_not_stand_for_it(folder: Path) -> None:
    """Python takes an unchecked compiled file for a module without a look at its source."""
    import importlib.util
    import py_compile

    (folder / ".mcp.json").unlink()
    (folder / "toolspan.yaml").write_text(HANDLED)
    (folder / "evil.py").write_text(HANDLER.replace("theirs ran", "evil ran"))
    (folder / "theirs.py").write_text(HANDLER)
    py_compile.compile(
        str(folder / "evil.py"),
        cfile=importlib.util.cache_from_source(str(folder / "theirs.py")),
        dfile=str(folder / "theirs.py"),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        doraise=True,
    )
    assert process("tools", "call", "theirs", "--trust", cwd=folder).out == "theirs ran\n"


def test_what_is_trusted_is_listed_and_taken_back(folder: Path) -> None:
    assert toolspan("trust", "list", cwd=folder).out == "no folder is trusted\n"
    answered(folder, "y\r", "tools", "list")
    (found,) = toolspan("trust", "list", "--json", cwd=folder).json["folders"]
    assert found["folder"] == str(folder) and "server.py" in found["items"][0]["what"]
    assert str(folder) in toolspan("trust", "list", cwd=folder).out
    assert toolspan("trust", "forget", "--json", cwd=folder).json == {"forgotten": 1}
    assert process("tools", "list", cwd=folder).code == 2
    assert toolspan("trust", "forget", str(folder), "--all", cwd=folder).code == 2
    assert toolspan("trust", "forget", "--all", cwd=folder).out == "0 folders forgotten\n"


def test_two_questions_at_once_are_both_answered_and_remembered(folder: Path) -> None:
    other = folder.parent / "other"
    shutil.copytree(folder, other)
    with Terminal("tools", "list", cwd=folder) as one, Terminal("tools", "list", cwd=other) as two:
        for terminal in (one, two):
            terminal.until("[y/N]:")
        for terminal in (one, two):
            terminal.type("y\r")
        assert (one.ended(), two.ended()) == (0, 0)
    for place in (folder, other):
        assert process("tools", "list", cwd=place).code == 0
