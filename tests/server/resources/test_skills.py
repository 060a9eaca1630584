"""Skills: folders with a ``SKILL.md``, told whole, or left out with the reason."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import pytest

from tests.support.document_collections import write
from toolspan_server.resources.errors import ResourceNotFound
from toolspan_server.resources.skills import Skills

pytestmark = pytest.mark.requirement("I4.2.8")


def manifest(name: str, more: str = "") -> str:
    return f"---\nname: {name}\ndescription: Does {name}.\n{more}---\n# {name}\n"


def skills_of(folder: Path) -> Skills:
    return Skills.of("skills", folder, 100_000)


def test_a_skill_is_told_with_every_file_and_its_digest(tmp_path: Path) -> None:
    text = manifest("sum", "metadata: {version: '1.0', since: 2024-01-31}\n")
    write(
        tmp_path / "skills",
        {"a/sum/SKILL.md": text, "a/sum/x/y.md": "deep", "a/sum/x/SKILL.md": manifest("x"), "z.md": ""},
    )
    (entry,) = skills_of(tmp_path).entries()
    assert entry["uri"] == "skill://a/sum/SKILL.md"
    assert entry["frontmatter"] == {
        "name": "sum",
        "description": "Does sum.",
        "metadata": {"version": "1.0", "since": "2024-01-31"},
    }
    assert entry["resources"] == [
        {
            "uri": f"skill://a/sum/{name}",
            "digest": "sha256:" + hashlib.sha256(data.encode()).hexdigest(),
            "size": len(data),
        }
        for name, data in (("SKILL.md", text), ("x/SKILL.md", manifest("x")), ("x/y.md", "deep"))
    ]


def test_its_files_are_resources_and_its_folders_can_be_looked_into(tmp_path: Path) -> None:
    write(tmp_path / "skills", {"sum/SKILL.md": manifest("sum"), "sum/x y/z.md": "deep", "other/no.md": "no"})
    skills = skills_of(tmp_path)
    listed = list(skills.listed())
    assert [each["uri"] for each in listed] == ["skill://sum/SKILL.md", "skill://sum/x%20y/z.md"]
    assert (listed[0]["name"], listed[0]["description"]) == ("sum", "Does sum.")
    assert skills.read("skill://sum/x%20y/z.md", 100)["text"] == "deep"
    children = skills.children("skill://sum")
    assert children is not None
    assert [(each["uri"], each["mimeType"]) for each in children] == [
        ("skill://sum/SKILL.md", "text/markdown"),
        ("skill://sum/x%20y", "inode/directory"),
    ]
    assert skills.children("skill://sum/SKILL.md") is None
    for uri in ("skill://other/no.md", "skill://sum/none.md", "skill://sum/../other/no.md"):
        with pytest.raises(ResourceNotFound):
            skills.read(uri, 100)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# no frontmatter", "does not start with frontmatter"),
        ("---\nname: sum\n---\n", "has no description"),
        (manifest("other"), "must be its folder's"),
        ("---\nname: [\n---\n", "its frontmatter: broken YAML"),
        ("---\n- name\n---\n", "is no object"),
    ],
)
def test_a_folder_that_is_no_skill_is_left_out_and_the_log_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, reason: str
) -> None:
    write(tmp_path / "skills", {"sum/SKILL.md": text, "good/SKILL.md": manifest("good")})
    skills = skills_of(tmp_path)
    with caplog.at_level(logging.WARNING):
        assert [each["frontmatter"]["name"] for each in skills.entries()] == ["good"]
        skills.entries()
    assert len([record for record in caplog.records if reason in record.getMessage()]) == 1


def test_a_skill_that_has_changed_is_told_anew(tmp_path: Path) -> None:
    write(tmp_path / "skills", {"sum/SKILL.md": manifest("sum")})
    skills = skills_of(tmp_path)
    (before,) = skills.entries()
    write(tmp_path / "skills", {"sum/SKILL.md": manifest("sum", "license: MIT\n")})
    (after,) = skills.entries()
    assert after["frontmatter"]["license"] == "MIT"
    assert before["resources"][0]["digest"] != after["resources"][0]["digest"]
