"""The description of the API as a page: plain HTML, without a script."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from itertools import groupby
from typing import Any

STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { margin: 2rem 0 .5rem; border-bottom: 1px solid; }
details { border: 1px solid color-mix(in srgb, currentColor 30%, transparent); border-radius: 6px;
  margin: .5rem 0; padding: .5rem .75rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .5rem; background: color-mix(in srgb, currentColor 8%, transparent); }
.method { font-weight: 700; display: inline-block; min-width: 4.5rem; }
table { border-collapse: collapse; }
td, th { text-align: left; padding: .15rem 1rem .15rem 0; vertical-align: top; }
"""
_METHODS = ("get", "post", "put", "patch", "delete")


def page(document: Mapping[str, Any]) -> str:
    """The page of an OpenAPI ``document``."""
    operations = [
        (each["tags"][0], method, path, each)
        for path, methods in document["paths"].items()
        for method, each in methods.items()
        if method in _METHODS
    ]
    operations.sort(key=lambda one: (one[0], one[2], _METHODS.index(one[1])))
    sections = "".join(
        f"<section><h2>{escape(tag)}</h2>{''.join(_operation(*one[1:]) for one in group)}</section>"
        for tag, group in groupby(operations, key=lambda one: one[0])
    )
    schemas = "".join(
        f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>{_pre(schema)}</details>'
        for name, schema in sorted(document["components"]["schemas"].items())
    )
    version = escape(document["info"]["version"])
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        "<title>Toolspan API</title>"
        '<meta name="viewport" content="width=device-width">'
        '<link rel="stylesheet" href="/api/docs.css"></head>'
        f"<body><main><h1>Toolspan API {version}</h1>"
        '<p>The same as <a href="/api/openapi.json">OpenAPI 3.1</a>, for programs. Errors are '
        "<code>application/problem+json</code> (RFC 9457).</p>"
        f"{sections}<section><h2>Schemas</h2>{schemas}</section></main></body></html>"
    )


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    summary = escape(operation["summary"])
    head = f'<span class="method">{method.upper()}</span> <code>{escape(path)}</code> {summary}'
    about = f"<p>{escape(operation['description'])}</p>" if "description" in operation else ""
    rows = "".join(
        f"<tr><td><code>{escape(each['name'])}</code></td><td>{escape(each['in'])}</td>"
        f"<td>{escape(each.get('description', ''))}</td></tr>"
        for each in operation["parameters"]
    )
    parameters = f"<h4>Parameters</h4><table>{rows}</table>" if rows else ""
    body = operation.get("requestBody", {}).get("content", {})
    answers = "".join(
        f"<tr><td>{escape(status)}</td><td>{escape(each['description'])}</td>"
        f"<td>{_links(each.get('content', {}))}</td></tr>"
        for status, each in operation["responses"].items()
    )
    asked = f"<h4>Body</h4><p>{_links(body)}</p>" if body else ""
    return (
        f"<details><summary>{head}</summary>{about}{parameters}{asked}<h4>Answers</h4><table>{answers}</table>"
        "</details>"
    )


def _links(content: Mapping[str, Any]) -> str:
    """The media types of a content, each with a link to its schema."""
    found: list[str] = []
    for media_type, each in content.items():
        name = str(each["schema"].get("$ref", "")).rpartition("/")[2]
        link = f' <a href="#{escape(name)}">{escape(name)}</a>' if name else ""
        found.append(f"<code>{escape(media_type)}</code>{link}")
    return ", ".join(found)


def _pre(schema: Any) -> str:
    return f"<pre>{escape(json.dumps(schema, indent=2, ensure_ascii=False))}</pre>"
