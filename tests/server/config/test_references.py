"""Parts say for themselves what they name of tools and services; one walker finds what is not there."""

from __future__ import annotations

from typing import Any

import pytest

from toolspan_server.config.checks.references import references, unknown_references


def tool(**implementation: Any) -> dict[str, Any]:
    return {"name": "a", "description": "b", "implementation": implementation}


DATA: dict[str, Any] = {
    "tools": {
        "registry": [
            tool(type="internal", handler="sql_query", options={"database": "sales"}),
            tool(type="pipeline", steps=[{"id": "s", "tool": "other"}, "no step"]),
            tool(type="mcp", upstream="files", tool="read"),
            {"deprecated": {"replacement": "new"}, "implementation": {"type": "no kind"}},
        ],
        "sources": [{"type": "mcp", "upstream": "web"}, {"type": ["mcp"]}, "no source"],
    }
}


@pytest.mark.requirement("I10.2.6")
def test_every_part_says_what_it_names() -> None:
    found = {(reference.to, reference.name) for _, reference in references(DATA) if reference.name}
    assert found == {
        ("databases", "sales"),
        ("tools", "other"),
        ("upstreams", "files"),
        ("tools", "new"),
        ("upstreams", "web"),
    }


@pytest.mark.requirement("I10.2.6")
def test_what_is_not_there_is_told_at_its_place() -> None:
    known: dict[str, list[str]] = {"tools": ["new"], "databases": [], "upstreams": ["files"]}
    faults = [(fault.path[1:], fault.message, fault.hint) for fault in unknown_references(DATA, known)]
    assert faults == [
        (
            ("registry", 0, "implementation", "options", "database"),
            "unknown database 'sales'",
            "add it to services.databases",
        ),
        (("registry", 1, "implementation", "steps", 0, "tool"), "unknown tool 'other'", "known: new"),
        (("sources", 0, "upstream"), "unknown upstream 'web'", "known: files"),
    ]
