"""After a folder was trusted, no other code of it runs unasked, however its programs load it."""

from __future__ import annotations

import importlib.util
import json
import os
import py_compile
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.support.cli import Ran, toolspan
from toolspan_bridge.sessions.chosen.config import trusted_folders
from toolspan_bridge.toolbox import McpJson, foreign_servers
from toolspan_server.config import load_config
from toolspan_server.config.code_files import FolderCode

pytestmark = [pytest.mark.long, pytest.mark.cold, pytest.mark.requirement("I24.1.2")]

PY = "open('OWNED', 'w').close()\n"
JS = "require('fs').writeFileSync('OWNED', '');\n"
MJS = "import fs from 'node:fs'; fs.writeFileSync('OWNED', '');\n"
SH = ": > OWNED\n"
PL = "open(my $f, '>', 'OWNED'); 1;\n"
Content = str | bytes | Callable[[Path], None]


@dataclass(frozen=True)
class Way:
    """A way to load code: the command line ``words`` in a folder of ``files`` runs what ``changed`` holds,
    which is to be ``evil`` after the folder was trusted."""

    name: str
    words: tuple[str, ...]
    files: Mapping[str, Content]
    changed: str
    evil: Content
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: str = "."


def python(
    name: str, changed: str, evil: Content = PY, *words: str, env: Any = None, **files: Content
) -> Way:
    named = {key.replace("__dot__", "."): text for key, text in files.items()}
    return Way(name, (sys.executable, *(words or ("server.py",))), named, changed, evil, env or {})


def archive(main: str, start: bytes = b"") -> Content:
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("__main__.py", main)
            packed.writestr("packed.py", main)
        path.write_bytes(start + path.read_bytes())

    return write


def compiled(text: str) -> Content:
    """A compiled module that Python does not compare with its source."""

    def write(path: Path) -> None:
        source = path.parent / "compiled-from.txt"
        source.write_text(text)
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(source), str(path), invalidation_mode=mode, doraise=True)
        source.unlink()

    return write


def link(to: str) -> Content:
    return lambda path: path.symlink_to(to)


CACHED = f"__pycache__/helper.{sys.implementation.cache_tag}.pyc"
HERE = "import sys; sys.path.insert(0, '.')\n"
WAYS = [
    python("its script", "server.py", server__dot__py=""),
    python("a module", "server.py", PY, "-m", "server", server__dot__py=""),
    Way("a package", (sys.executable, "-m", "pkg"), {"pkg/__main__.py": ""}, "pkg/__main__.py", PY),
    python("an import", "helper.py", server__dot__py="import helper", helper__dot__py=""),
    python("a new module of the standard library's name", "colorsys.py", server__dot__py="import colorsys"),
    python(
        "a name that is computed",
        "helper.py",
        server__dot__py="__import__('hel' + 'per')",
        helper__dot__py="",
    ),
    python("exec", "part.inc", server__dot__py="exec(open('part.inc').read())", part__dot__inc=""),
    python("a path that is run", "other", server__dot__py="import runpy; runpy.run_path('other')", other=""),
    python("an archive", "app.pyz", archive(PY), "app.pyz", app__dot__pyz=archive("")),
    python(
        "an archive that begins as a database",
        "app.pyz",
        archive(PY, b"SQLite format 3\0"),
        "app.pyz",
        app__dot__pyz=archive("", b"SQLite format 3\0"),
    ),
    python("an archive that ends as a database", "app.db", archive(PY), "app.db", app__dot__db=archive("")),
    Way("a folder", (sys.executable, "app"), {"app/__main__.py": ""}, "app/__main__.py", PY),
    python(
        "an archive on the path",
        "lib.zip",
        archive(PY),
        server__dot__py="import sys; sys.path.insert(0, 'lib.zip'); import packed",
        lib__dot__zip=archive(""),
    ),
    python(
        "a module without source",
        "helper.pyc",
        compiled(PY),
        server__dot__py="import helper",
        helper__dot__pyc=compiled(""),
    ),
    Way(
        "a compiled module, isolated",
        (sys.executable, "-I", "server.py"),
        {"server.py": HERE + "import helper", "helper.py": ""},
        CACHED,
        compiled(PY),
    ),
    Way(
        "a compiled module, by a shell",
        ("bash", "run.sh"),
        {"run.sh": f"{sys.executable} server.py", "server.py": "import helper", "helper.py": ""},
        CACHED,
        compiled(PY),
    ),
    Way(
        "a link in the folder",
        (sys.executable, "server.py"),
        {"app/main.py": "import helper", "app/helper.py": "", "server.py": link("app/main.py")},
        "app/helper.py",
        PY,
    ),
    Way(
        "a link out of the folder",
        (sys.executable, "server.py"),
        {
            "../shared/main.py": "import helper",
            "../shared/helper.py": "",
            "server.py": link("../shared/main.py"),
        },
        "../shared/helper.py",
        PY,
    ),
    Way(
        "a linked folder",
        (sys.executable, "server.py"),
        {"server.py": HERE + "import lib.helper", "../lib/helper.py": "", "lib": link("../lib")},
        "../lib/helper.py",
        PY,
    ),
    Way(
        "a link that leads elsewhere now",
        (sys.executable, "server.py"),
        {"server.py": "import helper", "notes.md": PY, "a.py": "", "helper.py": link("a.py")},
        "helper.py",
        link("notes.md"),
    ),
    Way(
        "a .pth",
        (sys.executable, "server.py"),
        {"server.py": "import site; site.addsitedir('own')", "own/x.pth": ""},
        "own/x.pth",
        f"import os; {PY}",
    ),
    python(
        "a pickle",
        "state.pickle",
        b"cbuiltins\nexec\n(V" + PY.strip().encode() + b"\ntR.",
        server__dot__py="import pickle; pickle.load(open('state.pickle', 'rb'))",
        state__dot__pickle=b"N.",
    ),
    python(
        "a large module",
        "helper.py",
        PY + "#" * 2_000_000,
        server__dot__py="import helper",
        helper__dot__py="#" * 2_000_000,
    ),
    python("a text that it is given", "notes.txt", PY, "notes.txt", notes__dot__txt=""),
    python("a variable", "sitecustomize.py", PY, "-c", "", env={"PYTHONPATH": "."}),
    Way(
        "a folder of modules",
        (sys.executable, "server.py"),
        {"server.py": "import sys; sys.path.insert(0, 'src'); import own.deep", "src/own/deep.py": ""},
        "src/own/deep.py",
        PY,
    ),
    Way("standard input", ("bash", "-c", f"{sys.executable} < part.inc"), {"part.inc": ""}, "part.inc", PY),
    Way("node", ("node", "server.js"), {"server.js": ""}, "server.js", JS),
    Way(
        "require of a file",
        ("node", "server.js"),
        {"server.js": "require('./lib/deep')", "lib/deep.js": ""},
        "lib/deep.js",
        JS,
    ),
    Way(
        "require of a package",
        ("node", "server.js"),
        {"server.js": "require('dep')", "node_modules/dep/index.js": ""},
        "node_modules/dep/index.js",
        JS,
    ),
    Way(
        "a package of the repository above",
        ("node", "server.js"),
        {".git/config": "", "own/server.js": "require('dep')", "node_modules/dep/index.js": ""},
        "node_modules/dep/index.js",
        JS,
        folder="own",
    ),
    Way(
        "the main module of package.json",
        ("node", "."),
        {"package.json": '{"main": "a.js"}', "a.js": "", "notes.js": JS},
        "package.json",
        '{"main": "notes.js"}',
    ),
    Way(
        "the imports of package.json",
        ("node", "server.mjs"),
        {
            "package.json": '{"imports": {"#x": "./a.mjs"}}',
            "a.mjs": "",
            "b.mjs": MJS,
            "server.mjs": "import '#x'",
        },
        "package.json",
        '{"imports": {"#x": "./b.mjs"}}',
    ),
    Way("import", ("node", "server.mjs"), {"server.mjs": "import './x.mjs'", "x.mjs": ""}, "x.mjs", MJS),
    Way(
        "import of a computed name",
        ("node", "server.mjs"),
        {"server.mjs": "await import('./x' + '.mjs')", "x.mjs": ""},
        "x.mjs",
        MJS,
    ),
    Way(
        "--require of a text",
        ("node", "--require", "./hook.txt", "server.js"),
        {"server.js": "", "hook.txt": ""},
        "hook.txt",
        JS,
    ),
    Way("a shell's script", ("bash", "run"), {"run": ""}, "run", SH),
    Way(
        "a sourced file",
        ("bash", "run.sh"),
        {"run.sh": ". ./common.bash", "common.bash": ""},
        "common.bash",
        SH,
    ),
    Way(
        "a sourced file without an ending",
        ("bash", "run.sh"),
        {"run.sh": ". ./common", "common": ""},
        "common",
        SH,
    ),
    Way("a large script", ("bash", "run.sh"), {"run.sh": ""}, "run.sh", SH + "#" * 2_000_000),
    Way(
        "a program on a path of the folder",
        ("bash", "run.sh"),
        {"run.sh": "PATH=$PWD/bin:$PATH; tool", "bin/tool": "#!/bin/sh\n"},
        "bin/tool",
        "#!/bin/sh\n" + SH,
    ),
    Way("BASH_ENV", ("bash", "-c", "true"), {"start.txt": ""}, "start.txt", SH, {"BASH_ENV": "start.txt"}),
    Way("a command of a shell", ("bash", "-c", "true; . ./notes.md"), {"notes.md": ""}, "notes.md", SH),
    Way("perl", ("perl", "main.pl"), {"main.pl": ""}, "main.pl", PL),
    Way(
        "a module of perl",
        ("perl", "-I.", "main.pl"),
        {"main.pl": "use Common;", "Common.pm": "1;"},
        "Common.pm",
        PL,
    ),
    Way("do of perl", ("perl", "main.pl"), {"main.pl": "do './x.inc';", "x.inc": "1;"}, "x.inc", PL),
    Way("awk", ("awk", "-f", "prog"), {"prog": "BEGIN {}"}, "prog", 'BEGIN { printf "" > "OWNED" }'),
    Way(
        "make",
        ("make", "-s"),
        {"Makefile": "all:;@true\ninclude x.mk\n", "x.mk": ""},
        "x.mk",
        "$(shell : > OWNED)\n",
    ),
    Way(
        "ruby",
        ("ruby", "main.rb"),
        {"main.rb": "require_relative 'x'", "x.rb": ""},
        "x.rb",
        "File.write('OWNED', '')",
    ),
]


def put(path: Path, content: Content) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        path.unlink()
    if callable(content):
        content(path)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(0o755 if "/bin/" in str(path) else 0o644)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name.replace(" ", "-"))
def test_code_that_changed_is_noticed_however_it_is_loaded(way: Way, tmp_path: Path) -> None:
    if shutil.which(way.words[0]) is None:
        pytest.skip(f"no {way.words[0]} is here, which is not Python")
    root = tmp_path / "a" / "project"
    root.mkdir(parents=True)
    for name, content in way.files.items():
        put(root / name, content)
    folder = root / way.folder

    def known() -> dict[str, str]:
        code = FolderCode(folder)
        code.add_command(way.words, None, way.env)
        return code.contents()

    def owned() -> bool:
        environment = {**os.environ, **way.env, "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run(way.words, cwd=folder, env=environment, capture_output=True, timeout=60, check=False)
        there = (folder / "OWNED").exists()
        (folder / "OWNED").unlink(missing_ok=True)
        return there

    assert not owned()
    before = known()
    assert known() == before
    put(root / way.changed, way.evil)
    assert known() != before
    assert owned()  # so this is a way to load it


@dataclass(frozen=True)
class Trusted:
    """A folder that this user trusts as it is; its state and cache are its own."""

    folder: Path
    environment: Mapping[str, str]

    def trust(self) -> None:
        with chdir(self.folder), patch.dict(os.environ, self.environment):
            config = self.folder / "toolspan.yaml"
            found = [*load_config(config, restricted=True).withheld] if config.exists() else []
            found += foreign_servers(McpJson.read(self.folder))
            trusted_folders().trust(self.folder, found)

    def run(self, *words: str) -> Ran:
        return toolspan(*words, cwd=self.folder, **self.environment)

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()


@pytest.fixture
def trusted(tmp_path: Path) -> Trusted:
    folder = tmp_path / "cloned"
    folder.mkdir()
    places = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    return Trusted(folder, places)


def write_server(folder: Path, *words: str) -> None:
    entry = {"command": words[0], "args": words[1:]}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"own": entry}}))


def test_a_server_runs_again_without_a_question_and_after_a_change_it_does_not(trusted: Trusted) -> None:
    folder = trusted.folder
    (folder / "server.py").write_text("import colorsys\nopen('ran.log', 'a').write('x')\n")
    write_server(folder, sys.executable, "-m", "server")
    trusted.trust()
    for _ in range(2):
        assert trusted.run("tools", "list").code == 4  # it speaks no MCP
    (folder / "README.md").write_text("more")
    (folder / "data.db").write_bytes(b"more")
    trusted.run("tools", "list")
    assert (folder / "ran.log").read_text() == 3 * "xx", (
        "it ends at the discovery, and is started the old way"
    )
    (folder / "colorsys.py").write_text(PY)
    assert trusted.run("tools", "list").code == 2
    assert not trusted.has("OWNED") and (folder / "ran.log").read_text() == 3 * "xx"


def test_a_planted_compiled_module_does_not_run_in_a_server(trusted: Trusted) -> None:
    folder = trusted.folder
    (folder / "server.py").write_text("import helper\n")
    (folder / "helper.py").write_text("open('ran', 'w').close()\n")
    put(folder / CACHED, compiled(PY))
    write_server(folder, sys.executable, "-m", "server")
    trusted.trust()
    trusted.run("tools", "list")
    assert trusted.has("ran") and not trusted.has("OWNED")


HANDLERS = """
import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent))
import helper
from toolspan_server import handler

@handler("theirs")
def theirs(arguments, context):
    return helper.word()
"""
HANDLED = """
handlers: [theirs.py]
tools:
  registry:
    - name: theirs
      description: Say a word
      implementation: {type: builtin, handler: theirs, isolation: %s}
"""


@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_a_planted_compiled_module_does_not_run_beside_handlers(isolation: str, trusted: Trusted) -> None:
    folder = trusted.folder
    (folder / "theirs.py").write_text(HANDLERS)
    (folder / "helper.py").write_text("def word(): return 'the source'\n")
    put(folder / CACHED, compiled("def word(): return 'compiled'\n"))
    (folder / "toolspan.yaml").write_text(HANDLED % isolation)
    trusted.trust()
    assert trusted.run("tools", "call", "theirs").out == "the source\n"
    (folder / "gettext.py").write_text(PY)
    refused = trusted.run("tools", "call", "theirs")
    assert refused.code == 2 and not trusted.has("OWNED")


def test_a_planted_compiled_module_does_not_run_beside_a_hook(trusted: Trusted) -> None:
    folder = trusted.folder
    guard = "import guarding\ndef check(given): guarding.run()\n"
    (folder / "guard.py").write_text(f"import sys\nsys.path.insert(0, {str(folder)!r})\n{guard}")
    (folder / "guarding.py").write_text(f"def run(): open({str(folder / 'ran')!r}, 'w').close()\n")
    cached = importlib.util.cache_from_source(str(folder / "guarding.py"))
    put(Path(cached), compiled(f"def run(): open({str(folder / 'OWNED')!r}, 'w').close()\n"))
    hooks = "hooks: [{point: before_call, python: 'guard.py:check'}]\n"
    mock = "{name: hello, description: Say hello., implementation: {type: mock, mock_response: hello}}"
    (folder / "toolspan.yaml").write_text(f"{hooks}tools:\n  registry:\n    - {mock}\n")
    trusted.trust()
    try:
        assert trusted.run("tools", "call", "hello").out == "hello\n"
    finally:
        sys.modules.pop("guarding", None)
        sys.path[:] = [each for each in sys.path if each != str(folder)]
    assert trusted.has("ran") and not trusted.has("OWNED")


def test_one_handler_that_changed_leaves_the_others_trusted(trusted: Trusted) -> None:
    folder = trusted.folder
    for name in ("a", "b"):
        (folder / f"{name}.py").write_text("")
    (folder / "toolspan.yaml").write_text("handlers: [a.py, b.py]\n")
    trusted.trust()
    (folder / "a.py").write_text("# changed\n")
    with chdir(folder), patch.dict(os.environ, trusted.environment):
        found = load_config("toolspan.yaml", restricted=True).withheld
        unknown = trusted_folders().untrusted(folder, found)
        assert {name for each in unknown for name in each.changed} == {"file a.py"}


@pytest.mark.parametrize("name", ["theirs.py", "package.json", "toolspan.yaml", ".mcp.json"])
@pytest.mark.parametrize("words", [("check",), ("tools", "list")], ids=" ".join)
def test_a_pipe_in_the_folder_is_not_waited_for(name: str, words: tuple[str, ...], trusted: Trusted) -> None:
    folder = trusted.folder
    if name != "toolspan.yaml":
        (folder / "toolspan.yaml").write_text(HANDLED % "thread" if name == "theirs.py" else "name: x\n")
    if name != ".mcp.json":
        write_server(folder, "npx", "some-server")
    os.mkfifo(folder / name)
    done = subprocess.run(
        [sys.executable, "-m", "toolspan_bridge", *words],
        cwd=folder,
        env={**os.environ, **trusted.environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert done.returncode in (0, 1, 2) and b"Traceback" not in done.stderr
