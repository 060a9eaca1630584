"""``mcpServers``, as other clients write them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.configs import load, told
from toolspan_server.config import McpServerConfig

pytestmark = pytest.mark.requirement("I4.4.1")


def server(folder: Path, entry: dict[str, Any]) -> McpServerConfig:
    return load(folder, json.dumps({"mcpServers": {"it": entry}}), name="a.json").mcp_servers["it"]


@pytest.mark.parametrize("key", ["mcpServers", "mcp_servers", "servers"])
def test_servers_are_read_under_every_common_key(tmp_path: Path, key: str) -> None:
    config = load(tmp_path, f"{key}: {{a: {{command: run, args: [x], env: {{K: v}}}}}}")
    assert config.mcp_servers["a"].command == "run"
    assert (config.mcp_servers["a"].args, config.mcp_servers["a"].env) == (("x",), {"K": "v"})


def test_two_spellings_of_the_servers_are_refused(tmp_path: Path) -> None:
    (line,) = told(tmp_path, "mcpServers: {}\nservers: {}")
    assert line == "config.yaml:2:1: $.servers: 'servers' and 'mcpServers' mean the same (keep one of them)"


@pytest.mark.parametrize("key", ["url", "serverUrl", "server_url", "httpUrl", "http_url"])
def test_a_url_is_read_under_every_common_key(tmp_path: Path, key: str) -> None:
    assert server(tmp_path, {key: "https://example.com/mcp"}).url == "https://example.com/mcp"


def test_other_clients_keys_are_ignored(tmp_path: Path) -> None:
    entry = {
        "command": "run",
        "autoApprove": ["x"],
        "timeout": 3,
        "envFile": ".env",
        "dev": {},
        "disabled": True,
    }
    assert server(tmp_path, entry).disabled is True


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "neither a command nor a url (add one of them)"),
        ({"command": "a", "url": "http://b"}, "both a command and a url (keep one of them)"),
        ({"type": "stdio", "url": "http://b"}, "type 'stdio' needs a command"),
        ({"type": "sse", "command": "b"}, "type 'sse' needs a url"),
        ({"command": ""}, ".command: must not be empty"),
        ({"command": "a\0b"}, ".command: must not hold a NUL character"),
        ({"command": "a", "args": ["x\0"]}, ".args[0]: must not hold a NUL character"),
        ({"command": "a", "env": {"PORT": 80}}, ".env.PORT: must be a string, not 80 (put it in quotes)"),
        ({"command": "a", "env": {"A=B": "c"}}, "cannot be an environment variable"),
        ({"url": "ftp://example.com"}, ".url: is not an http or https URL"),
        ({"url": "file:///etc/passwd"}, ".url: is not an http or https URL"),
        ({"url": "http://"}, ".url: is not an http or https URL"),
        ({"url": "http://a b"}, ".url: is not an http or https URL"),
        ({"url": "http://a:99999"}, ".url: is not an http or https URL"),
        ({"url": "http://[::1"}, ".url: is not an http or https URL"),
        ({"url": "example.com/mcp"}, ".url: is not an http or https URL"),
        ({"url": "http://a", "headers": {"A B": "c"}}, "'A B' cannot be a header"),
        (
            {"url": "http://a", "headers": {"A": "x\r\nB: y"}},
            ".headers.A: the value holds a control character",
        ),
        ({"command": "a", "env": {"LD_PRELOAD": "x"}}, "LD_PRELOAD changes which code the server runs"),
        ({"command": "a", "env": {"Node_Options": "x"}}, "Node_Options changes which code the server runs"),
        ({"command": "a", "env": {"BASH_ENV": "x"}}, "set allowDangerousEnv: true"),
        ("run", "must be an object, not 'run'"),
    ],
)
def test_an_entry_that_cannot_work_is_refused(tmp_path: Path, entry: Any, said: str) -> None:
    (line,) = told(tmp_path, json.dumps({"mcpServers": {"it": entry}}), name="a.json")
    assert said in line and "$.mcpServers.it" in line


DANGEROUS = """
    LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES GCONV_PATH LOCPATH GLIBC_TUNABLES PYTHONPATH
    PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE PYTHONBREAKPOINT PYTHONWARNINGS PYTHONPYCACHEPREFIX
    NODE_OPTIONS NODE_PATH BUN_OPTIONS PERL5LIB PERL5OPT PERL5DB RUBYOPT RUBYLIB GEM_PATH BUNDLE_GEMFILE
    PHPRC LUA_INIT LUA_INIT_5_4 LUA_CPATH R_PROFILE_USER JULIA_LOAD_PATH ERL_AFLAGS JAVA_TOOL_OPTIONS
    JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH DOTNET_STARTUP_HOOKS CORECLR_PROFILER_PATH BASH_ENV ENV
    BASH_FUNC_ls%% SHELLOPTS PS4 IFS ZDOTDIR PROMPT_COMMAND SHELL COMSPEC PSModulePath GIT_SSH
    GIT_SSH_COMMAND GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_PAGER GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR
    GIT_CONFIG GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_GLOBAL GIT_PROXY_COMMAND SSH_ASKPASS RSYNC_RSH
    PAGER EDITOR VISUAL BROWSER LESSOPEN npm_config_registry npm_config_script-shell
    NPM_CONFIG_NODE_OPTIONS npm_config_//registry.example.com/:_authToken PIP_INDEX_URL
    PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE UV_INDEX_URL UV_DEFAULT_INDEX UV_CONFIG_FILE UV_PYTHON
    RUSTC_WRAPPER CARGO_HOME GOFLAGS GOPROXY CC OPENSSL_CONF GTK_MODULES Node_Options pythonpath
    Git_Ssh_Command
"""
HARMLESS = """
    API_KEY GITHUB_TOKEN GIT_TOKEN GIT_AUTHOR_NAME GIT_TERMINAL_PROMPT NODE_ENV NODE_EXTRA_CA_CERTS PORT
    DEBUG PYTHONUNBUFFERED PYTHONIOENCODING PYTHONUTF8 PYTHONDONTWRITEBYTECODE LANG LC_ALL TZ HOME APPDATA
    npm_config_loglevel NPM_CONFIG_YES PIP_NO_CACHE_DIR UV_OFFLINE JAVA_HOME HTTPS_PROXY KUBECONFIG
    ENVIRONMENT SHELL_COLOR MY_LD_PRELOAD EDITOR_THEME OPENSSL_FIPS CCC GOOGLE_API_KEY DOCKER_HOST
    R_SECRET ENV_NAME
"""


@pytest.mark.requirement("I9.3.22")
@pytest.mark.parametrize("name", DANGEROUS.split())
def test_a_variable_that_decides_which_code_runs_needs_the_operators_word(tmp_path: Path, name: str) -> None:
    entry: dict[str, Any] = {"command": "a", "env": {name: "x"}}
    (line,) = told(tmp_path, json.dumps({"mcpServers": {"it": entry}}), name="a.json")
    assert f"{name} changes which code the server runs" in line
    assert "set allowDangerousEnv: true" in line
    assert server(tmp_path, {**entry, "allowDangerousEnv": True}).env == {name: "x"}


@pytest.mark.requirement("I9.3.22")
def test_variables_of_a_servers_own_are_taken(tmp_path: Path) -> None:
    env = dict.fromkeys(HARMLESS.split(), "x")
    assert server(tmp_path, {"command": "a", "env": env}).env == env


@pytest.mark.requirement("I9.3.22")
@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
@pytest.mark.parametrize(
    ("path", "is_taken"),
    [("/usr/bin", True), ("/a:/usr/bin", True), ("bin:/usr/bin", False), ("/usr/bin:", False), (".", False)],
)
def test_a_path_of_absolute_folders_is_taken(tmp_path: Path, path: str, is_taken: bool) -> None:
    entry = {"command": "a", "env": {"PATH": path}}
    if is_taken:
        assert server(tmp_path, entry).env == {"PATH": path}
    else:
        (line,) = told(tmp_path, json.dumps({"mcpServers": {"it": entry}}), name="a.json")
        assert "PATH changes which code the server runs" in line


@pytest.mark.parametrize("flag", ["allowDangerousEnv", "allow_dangerous_env"])
def test_the_operator_may_allow_a_dangerous_variable(tmp_path: Path, flag: str) -> None:
    assert server(tmp_path, {"command": "a", "env": {"NODE_OPTIONS": "x"}, flag: True}).env == {
        "NODE_OPTIONS": "x"
    }


def test_every_fault_of_an_entry_is_told(tmp_path: Path) -> None:
    entry = {"command": "a", "url": "http://b", "env": {"LD_PRELOAD": "x", "NODE_OPTIONS": "y"}}
    assert len(told(tmp_path, json.dumps({"servers": {"it": entry}}), name="a.json")) == 3
