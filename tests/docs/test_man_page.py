"""The man page."""

from __future__ import annotations

import shutil
import subprocess

import click
import pytest

from scripts.docs.man import page
from toolspan_bridge.cli.main import toolspan


@pytest.mark.requirement("I13.5.2")
def test_the_man_page_names_every_verb() -> None:
    text = page().replace(r"\-", "-")
    for verb in toolspan.list_commands(click.Context(toolspan)):
        assert f".SS toolspan {verb}" in text


@pytest.mark.requirement("I13.5.2")
@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_the_man_page_is_read_without_a_warning() -> None:
    ran = subprocess.run(
        ["groff", "-man", "-ww", "-z", "-K", "utf8"],
        input=page(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
