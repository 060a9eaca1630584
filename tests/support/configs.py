"""Config files written for one test, and what loading them says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from toolspan_server import ConfigError
from toolspan_server.config import Config, Problem, load_config

MOCK_TOOL = """\
    - name: {name}
      description: A tool.
      implementation: {{type: mock, mock_response: 1}}
"""


def registry(*names: str) -> str:
    """YAML of a config with one mock tool for each name."""
    return "tools:\n  registry:\n" + "".join(MOCK_TOOL.format(name=name) for name in names)


def load(
    folder: Path,
    text: str | bytes,
    *,
    name: str = "config.yaml",
    environ: Mapping[str, str] | None = None,
    skip_invalid: bool = False,
) -> Config:
    """The config that ``text``, written to ``folder / name``, is."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_config(path, environ=environ or {}, skip_invalid=skip_invalid)


def problems(
    folder: Path, text: str | bytes, *, name: str = "config.yaml", environ: Mapping[str, str] | None = None
) -> list[Problem]:
    """Every problem of ``text``, which must have one."""
    with pytest.raises(ConfigError) as caught:
        load(folder, text, name=name, environ=environ)
    return list(caught.value.problems)


def told(folder: Path, text: str | bytes, **options: object) -> list[str]:
    """Every problem as a line, without the folder's name."""
    found = problems(folder, text, **options)  # type: ignore[arg-type] # passed on as they are
    return [str(problem).replace(f"{folder}/", "") for problem in found]
