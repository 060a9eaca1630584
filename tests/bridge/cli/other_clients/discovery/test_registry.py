"""Registry entries, as entries of ``mcpServers``."""

from __future__ import annotations

from typing import Any

import pytest

from toolspan_bridge.cli.other_clients.discovery.registry import Inputs, Wanted, entry_of, registry_server
from toolspan_bridge.errors import UsageError

pytestmark = pytest.mark.requirement("I12.2.75")
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def package(kind: str, identifier: str, **more: Any) -> dict[str, Any]:
    return {"registryType": kind, "identifier": identifier, "transport": {"type": "stdio"}, **more}


def entry(*packages: dict[str, Any], remotes: Any = ()) -> dict[str, Any]:
    data = {"$schema": SCHEMA, "name": "io.github.ann/weather", "description": "Weather", "version": "1.2.0"}
    return {**data, "packages": list(packages), "remotes": list(remotes)}


def made(data: dict[str, Any], inputs: Inputs | None = None) -> dict[str, Any]:
    return entry_of(registry_server(data).offers[0], inputs or Inputs())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (package("npm", "@ann/weather", version="1.2.0"), ["npx", "-y", "@ann/weather@1.2.0"]),
        (package("pypi", "weather-mcp", version="1.2.0", runtimeHint="uvx"), ["uvx", "weather-mcp@1.2.0"]),
        (
            package("oci", "ghcr.io/ann/weather:1.2.0"),
            ["docker", "run", "-i", "--rm", "ghcr.io/ann/weather:1.2.0"],
        ),
        (package("oci", "ann/weather", version="1"), ["docker", "run", "-i", "--rm", "ann/weather:1"]),
        (package("nuget", "Ann.Weather", version="1.2.0"), ["dnx", "Ann.Weather@1.2.0", "--yes"]),
        (
            package("nuget", "Ann.Weather", packageArguments=[{"type": "positional", "value": "mcp"}]),
            ["dnx", "Ann.Weather", "--yes", "--", "mcp"],
        ),
        (
            package("npm", "w", registryBaseUrl="https://npm.example.com"),
            ["npx", "-y", "--registry", "https://npm.example.com", "w"],
        ),
        (
            package(
                "oci",
                "ann/w:1",
                runtimeArguments=[
                    {
                        "type": "named",
                        "name": "--mount",
                        "value": "type=bind,src={source},dst=/p",
                        "variables": {"source": {"isRequired": True, "default": "/data"}},
                    }
                ],
                environmentVariables=[{"name": "UNITS", "value": "si"}],
            ),
            [
                *("docker", "run", "-i", "--rm", "-e", "UNITS", "--mount"),
                *("type=bind,src=/data,dst=/p", "ann/w:1"),
            ],
        ),
        (
            package(
                "npm",
                "w",
                packageArguments=[
                    {"type": "positional", "valueHint": "dir", "default": "/data"},
                    {"type": "named", "name": "--port", "format": "number"},
                    {"type": "named", "name": "--quiet", "value": ""},
                    {"type": "named", "name": "--unit", "default": "$" + "{x}"},
                ],
            ),
            ["npx", "-y", "w", "/data", "--quiet", "--unit", "$$" + "{x}"],
        ),
    ],
)
def test_a_package_becomes_the_command_of_its_registry(given: dict[str, Any], expected: list[str]) -> None:
    found = made(entry(given))
    assert [found["command"], *found["args"]] == expected


def test_a_remote_becomes_a_url_with_headers() -> None:
    remote = {
        "type": "streamable-http",
        "url": "https://{tenant}.example.com/mcp",
        "variables": {"tenant": {"description": "Your tenant", "isRequired": True}},
        "headers": [
            {"name": "X-API-Key", "isRequired": True, "isSecret": True, "description": "The key"},
            {"name": "X-Region", "default": "eu"},
            {"name": "X-Optional"},
        ],
    }
    inputs = Inputs({"tenant": "acme"})
    assert made(entry(remotes=[remote]), inputs) == {
        "type": "http",
        "url": "https://acme.example.com/mcp",
        "headers": {"X-API-Key": "${X_API_KEY}", "X-Region": "eu"},
    }
    assert inputs.left == {"X_API_KEY": "The key"}


def test_required_values_are_asked_for_and_secrets_never_are() -> None:
    asked: list[Wanted] = []

    def ask(wanted: Wanted) -> str | None:
        asked.append(wanted)
        return "si" if wanted.name == "UNITS" else None

    variables = [
        {"name": "UNITS", "isRequired": True, "choices": ["si", "us"]},
        {"name": "KEY", "isRequired": True, "isSecret": True, "default": "never-written"},
        {"name": "CITY", "isRequired": True},
        {"name": "LEVEL"},
    ]
    inputs = Inputs(ask=ask)
    found = made(entry(package("npm", "w", environmentVariables=variables)), inputs)
    assert found["env"] == {"UNITS": "si", "KEY": "${KEY}", "CITY": "${CITY}"}
    assert [(each.name, each.choices) for each in asked] == [("UNITS", ["si", "us"]), ("CITY", [])]
    assert list(inputs.left) == ["KEY", "CITY"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (package("mcpb", "https://github.com/a/b/releases/w.mcpb", fileSha256="0" * 64), "unpacked"),
        (package("cargo", "w"), "cargo"),
        (
            package("npm", "w", transport={"type": "streamable-http", "url": "http://localhost:1"}),
            "started apart",
        ),
        (package("npm", "w; rm -rf ~"), "identifier"),
        (package("npm", "--registry=https://evil.example"), "identifier"),
        (package("pypi", "w", version="--evil"), "no version"),
        (package("npm", "w", runtimeHint="sh"), "'sh'"),
    ],
)
def test_what_no_command_starts_honestly_says_so(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        made(entry(given))


def test_the_answer_of_a_registry_and_the_first_spelling_are_read() -> None:
    old = {
        "registry_type": "pypi",
        "identifier": "w",
        "version": "1.0",
        "runtime_hint": "uvx",
        "environment_variables": [{"name": "K", "is_required": True, "is_secret": True}],
    }
    status = {"io.modelcontextprotocol.registry/official": {"status": "deprecated"}}
    answer = {
        "server": {"name": "a/b", "version_detail": {"version": "1.0"}, "packages": [old]},
        "_meta": status,
    }
    server = registry_server(answer)
    assert (server.version, server.short_name(), server.notice) == (
        "1.0",
        "b",
        "the registry calls it deprecated",
    )
    assert made(answer) == {"command": "uvx", "args": ["w@1.0"], "env": {"K": "${K}"}}


@pytest.mark.parametrize(
    "data",
    [
        [],
        {"packages": []},
        {"name": "a/b"},
        {"name": "a/b", "packages": "x"},
        {"name": "a/b", "packages": [5]},
        {"name": "a/b", "remotes": [{"type": "sse", "url": "https://x.example"}] * 51},
    ],
)
def test_what_is_no_registry_entry_is_refused(data: Any) -> None:
    with pytest.raises(UsageError, match=r"registry entry|neither packages"):
        registry_server(data)
