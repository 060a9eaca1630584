"""Resources of a config: listed and read as they are now, and nothing beyond them."""

from __future__ import annotations

import base64
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.cost import at_most
from tests.support.document_collections import write
from tests.support.waiting import BOUND_S
from toolspan_server import load_config, running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.common.changes import Change
from toolspan_server.errors import RequestRefused
from toolspan_server.live.runtime import Runtime
from toolspan_server.resources.completions import CompletionUnavailable
from toolspan_server.resources.errors import ResourceNotFound, ResourceUnreadable
from toolspan_server.resources.live import Resources

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.8", "I4.4.1")]
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@asynccontextmanager
async def serving(folder: Path, text: str, **environ: str) -> AsyncIterator[tuple[Runtime, Resources]]:
    path = folder / "toolspan.yaml"
    path.write_text(text, "utf-8")
    with anyio.fail_after(BOUND_S):
        async with running(load_config(path, environ=environ)) as runtime:
            assert runtime.snapshot.resources is not None
            yield runtime, runtime.snapshot.resources


async def uris(resources: Resources) -> list[str]:
    return [each["uri"] for each in await resources.listed()]


async def read(resources: Resources, uri: str) -> Any:
    content = await resources.read(uri)
    return content.get("text", content.get("blob"))


LITERALS = """
resources:
  - uri: test://text
    name: words
    title: Words
    description: Some words.
    annotations: {audience: [user], priority: 0.5, last_modified: "2026-01-02T03:04:05Z"}
    icons: [{src: "https://example.com/i.png", mime_type: image/png, sizes: [48x48]}]
    text: Grüße
  - {uri: "test://json", name: data, json: {a: [1, null]}}
  - {uri: "test://null", name: nothing, json: null}
  - {uri: "test://blob", name: bytes, mime_type: image/png, blob: "iVBO\\n Rw0K"}
"""


async def test_literals_are_listed_with_all_that_is_said_of_them(tmp_path: Path) -> None:
    async with serving(tmp_path, LITERALS) as (_, resources):
        first, *others = await resources.listed()
        assert first == {
            "uri": "test://text",
            "name": "words",
            "title": "Words",
            "description": "Some words.",
            "mimeType": "text/plain",
            "size": 7,
            "annotations": {"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-02T03:04:05Z"},
            "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"]}],
        }
        assert [(each["mimeType"], each["size"]) for each in others] == [
            ("application/json", 14),
            ("application/json", 4),
            ("image/png", 6),
        ]
        assert await resources.read("test://text") == {
            "uri": "test://text",
            "mimeType": "text/plain",
            "text": "Grüße",
        }
        assert await read(resources, "test://json") == '{"a":[1,null]}'
        assert await read(resources, "test://null") == "null"
        assert await read(resources, "test://blob") == "iVBORw0K"


FILES = """
resources:
  - {uri: "test://one", file: data/one.txt}
  - {uri: "docs:///{path}", glob: "docs/**/*.*", exclude: ["**/secret.md"], mime_type: null}
"""


async def test_files_are_listed_and_read_as_they_are_now(tmp_path: Path) -> None:
    write(tmp_path, {"docs/b.md": "# B", "docs/a/x y.md": "# X", "docs/secret.md": "no", "docs/p.png": PNG})
    async with serving(tmp_path, FILES) as (_, resources):
        assert await uris(resources) == ["docs:///b.md", "docs:///p.png", "docs:///a/x%20y.md"]
        with pytest.raises(ResourceNotFound):
            await resources.read("test://one")
        write(tmp_path, {"data/one.txt": "1", "docs/b.md": "# New"})
        listed = await resources.listed()
        assert listed[0]["uri"] == "test://one"
        assert (listed[0]["name"], listed[0]["size"], listed[0]["mimeType"]) == ("one.txt", 1, "text/plain")
        assert listed[0]["annotations"]["lastModified"].endswith("Z")
        assert await read(resources, "test://one") == "1"
        assert await read(resources, "docs:///b.md") == "# New"
        assert await read(resources, "docs:///a/x%20y.md") == "# X"
        write(tmp_path, {"docs/b.md": b"caf\xe9"})
        assert base64.b64decode((await resources.read("docs:///b.md"))["blob"]) == b"caf\xe9"
        picture = await resources.read("docs:///p.png")
        assert (picture["mimeType"], base64.b64decode(picture["blob"])) == ("image/png", PNG)


@pytest.mark.parametrize(
    "uri",
    [
        "docs:///secret.md",
        "docs:///../toolspan.yaml",
        "docs:///%2e%2e/toolspan.yaml",
        "docs:///a/../b.md",
        "docs:////etc/passwd",
        "docs:///b.md%00.md",
        "docs:///none.md",
        "docs:///",
        "docs:///\ud800",
        "test://other",
        "",
    ],
)
async def test_nothing_but_the_resources_can_be_read(tmp_path: Path, uri: str) -> None:
    write(tmp_path, {"docs/b.md": "# B", "docs/secret.md": "no"})
    async with serving(tmp_path, FILES) as (_, resources):
        with pytest.raises(ResourceNotFound):
            await resources.read(uri)


async def test_links_lead_nowhere_outside_and_special_files_are_not_read(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"x.md": "no"})
    home = write(tmp_path / "home", {"docs/in.md": "in", "data/real.txt": "real"})
    (home / "docs" / "out.md").symlink_to(outside / "x.md")
    (home / "docs" / "within.md").symlink_to("in.md")
    (home / "data" / "one.txt").symlink_to(outside / "x.md")
    os.mkfifo(home / "docs" / "pipe.md")
    async with serving(home, FILES) as (_, resources):
        assert await uris(resources) == ["docs:///in.md", "docs:///within.md"]
        assert await read(resources, "docs:///within.md") == "in"
        for uri in ("docs:///out.md", "docs:///pipe.md", "test://one"):
            with pytest.raises(ResourceUnreadable):
                await resources.read(uri)


async def test_a_folder_that_is_a_link_to_elsewhere_has_no_files_unless_that_is_allowed(
    tmp_path: Path,
) -> None:
    outside = write(tmp_path / "outside", {"x.md": "yes"})
    home = write(tmp_path / "home", {})
    (home / "docs").symlink_to(outside)
    glob = 'resources: [{uri: "d:///{path}", glob: "docs/*.md"%s}]'
    async with serving(home, glob % "") as (_, resources):
        assert await uris(resources) == []
        with pytest.raises(ResourceNotFound):
            await resources.read("d:///x.md")
    async with serving(home, glob % ", outside: true") as (_, resources):
        assert await uris(resources) == ["d:///x.md"]
        assert await read(resources, "d:///x.md") == "yes"


async def test_what_is_too_large_is_refused_with_the_limits_name(tmp_path: Path) -> None:
    write(tmp_path, {"data/one.txt": "x" * 2_000})
    long = f"  - {{uri: 'test://l', name: l, text: {'x' * 2000}}}"
    text = f"limits: {{resource_bytes: 1024, resources: 1}}{FILES}{long}"
    async with serving(tmp_path, text) as (_, resources):
        assert await uris(resources) == ["test://one"]
        for uri in ("test://one", "test://l"):
            with pytest.raises(ResourceUnreadable, match="resource_bytes"):
                await resources.read(uri)


async def test_secrets_of_the_config_are_taken_out_of_files_but_not_out_of_what_it_serves(
    tmp_path: Path,
) -> None:
    write(tmp_path, {"data/one.txt": "token is hunter2!"})
    text = f"state_dir: x-${{SECRET}}{FILES}  - {{uri: 'test://v', name: v, text: 'at ${{PLACE}}'}}"
    async with serving(tmp_path, text, SECRET="hunter2!", PLACE="harbour") as (_, resources):
        assert await read(resources, "test://one") == "token is ***"
        assert await read(resources, "test://v") == "at harbour"


@pytest.mark.requirement("I9.3.29")
async def test_a_file_that_is_no_text_has_zeros_where_a_secret_stood(tmp_path: Path) -> None:
    for shift in range(3):
        (tmp_path / f"{shift}.bin").write_bytes(b"\xff" * shift + b"key=hunter2hunter2\0\xff")
    files = "".join(f"  - {{uri: 'test://{shift}', name: n, file: {shift}.bin}}\n" for shift in range(3))
    text = f"state_dir: x-${{SECRET}}\nresources:\n{files}"
    async with serving(tmp_path, text, SECRET="hunter2hunter2") as (_, resources):
        for shift in range(3):
            data = base64.b64decode(await read(resources, f"test://{shift}"))
            assert (len(data), data[shift : shift + 4]) == (shift + 20, b"key=")
            assert data[shift + 5 : shift + 17] == bytes(12)


TEMPLATES = """
resource_templates:
  - uri_template: test://template/{id}/data
    name: template
    mime_type: application/json
    json: {id: "{{ id }}", templateTest: true, data: "Data for ID: {{ id }}"}
  - uri_template: greet://{name}{?greeting}
    name: greet
    text: "{{ greeting | default('Hello') }} {{ name }}"
  - {uri_template: "loans://{year}/{month}", name: loans, file: "loans/{year}/{month}.json"}
  - {uri_template: "tree://{+path}", name: tree, file: "tree/{path}"}
"""


async def test_templates_are_filled_in_with_the_values_of_the_uri(tmp_path: Path) -> None:
    write(tmp_path, {"loans/2025/01.json": "{}", "tree/a/b.txt": "deep", "tree/.hidden": "no"})
    async with serving(tmp_path, TEMPLATES) as (_, resources):
        assert [each["uriTemplate"] for each in resources.templates][:2] == [
            "test://template/{id}/data",
            "greet://{name}{?greeting}",
        ]
        assert await uris(resources) == []
        assert await resources.read("test://template/1%222/data") == {
            "uri": "test://template/1%222/data",
            "mimeType": "application/json",
            "text": '{"id":"1\\"2","templateTest":true,"data":"Data for ID: 1\\"2"}',
        }
        assert await read(resources, "greet://Ann") == "Hello Ann"
        assert await read(resources, "greet://Ann?greeting=Hi") == "Hi Ann"
        assert (await resources.read("loans://2025/01"))["mimeType"] == "application/json"
        assert await read(resources, "tree://a/b.txt") == "deep"
        for uri in ("loans://2025/02", "loans://2025/..%2F01", "tree://../toolspan.yaml", "tree://.hidden"):
            with pytest.raises(ResourceNotFound):
                await resources.read(uri)


async def test_variables_are_completed_from_lists_and_from_the_files_that_there_are(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"loans/2025/01.json": "{}", "loans/2024/02.json": "{}", "names.txt": "Ann\n\nBob \nJoanna\n"},
    )
    listed = "name: greet\n    variables: {name: {values_from: names.txt}}"
    text = TEMPLATES.replace("name: greet", listed)
    async with serving(tmp_path, text) as (_, resources):
        loans, greet = "loans://{year}/{month}", "greet://{name}{?greeting}"
        assert (await resources.complete(loans, "month", "", {}, LOCAL))["values"] == ["02", "01"]
        assert (await resources.complete(loans, "month", "", {"year": "2025"}, LOCAL))["values"] == ["01"]
        assert await resources.complete(greet, "name", "AN", {}, LOCAL) == {
            "values": ["Ann", "Joanna"],
            "total": 2,
            "hasMore": False,
        }
        assert (await resources.complete(greet, "greeting", "", {}, LOCAL))["values"] == []
        for template, variable in (("x://{y}", "y"), (greet, "other")):
            with pytest.raises(RequestRefused):
                await resources.complete(template, variable, "", {}, LOCAL)
        (tmp_path / "names.txt").unlink()
        with pytest.raises(CompletionUnavailable, match=r"names\.txt"):
            await resources.complete(greet, "name", "", {}, LOCAL)


async def test_clients_hear_of_files_that_change_come_and_go(tmp_path: Path) -> None:
    write(tmp_path, {"data/one.txt": "1", "docs/b.md": "# B", "loans/2025/01.json": "{}"})
    sent, heard = anyio.create_memory_object_stream[Change](100)
    async with serving(tmp_path, FILES + TEMPLATES) as (runtime, resources):
        runtime.changes.subscribe(sent.send_nowait)
        await resources.watched.wait()
        told: set[tuple[str, str]] = set()

        async def until(*wanted: tuple[str, str]) -> None:
            while not set(wanted) <= told:
                change = await heard.receive()
                told.add((change.of, change.uri))

        write(
            tmp_path,
            {"data/one.txt": "12", "data/other.txt": "", "docs/b.md": "# BB", "loans/2025/01.json": "[]"},
        )
        await until(("resource", "test://one"), ("resource", "docs:///b.md"), ("resource", "loans://2025/01"))
        assert ("resources", "") not in told
        write(tmp_path, {"docs/new.md": "# New"})
        await until(("resources", ""), ("resource", "docs:///new.md"))
        told.clear()
        (tmp_path / "data" / "one.txt").unlink()
        await until(("resources", ""), ("resource", "test://one"))
    sent.close()
    heard.close()


async def test_another_config_tells_which_resources_say_something_else(tmp_path: Path) -> None:
    heard: list[Change] = []
    write(tmp_path, {"data/one.txt": "1"})
    async with serving(tmp_path, LITERALS) as (runtime, resources):
        runtime.changes.subscribe(heard.append)
        changed = tmp_path / "toolspan.yaml"
        await runtime.replace(load_config(changed))
        assert (heard, runtime.snapshot.resources) == ([], resources)
        changed.write_text(LITERALS.replace("Grüße", "Hallo"), "utf-8")
        await runtime.replace(load_config(changed))
        assert set(heard) == {Change("resources"), Change("resource", "test://text")}
        assert runtime.snapshot.resources is not None
        assert await read(runtime.snapshot.resources, "test://text") == "Hallo"


async def test_a_uri_of_thousands_of_folders_costs_nothing(tmp_path: Path) -> None:
    text = "resources:\n- {glob: 'docs/**', uri: 'docs://{path}', exclude: ['**/drafts/**']}\n"
    async with serving(tmp_path, text) as (_, resources):
        with at_most(units=20), pytest.raises(ResourceNotFound):
            await resources.read("docs://" + "/".join("a" * 4_000))
