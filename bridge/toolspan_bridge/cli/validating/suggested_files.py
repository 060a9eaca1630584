"""The file of ``--suggest``: rewordings as JSON, a whole config that has them, or a patch of the configs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from toolspan_server.common.regular_files import read_regular
from toolspan_server.schema.positions import SIZE_LIMIT

from ...errors import StoreError, UsageError
from ...files.replacement import replace_file
from ...sessions.chosen.config import ConfigChoice, config_paths_or_default
from ..terminal.output import print_note

if TYPE_CHECKING:
    from ...validation.definitions_ab import Rewording

__all__ = ["SuggestedFile"]

_CONFIG_ENDINGS = (".yaml", ".yml")
_PATCH_ENDINGS = (".patch", ".diff")
_LINE = re.compile(r"[^\n]+\n?|\n")
_NO_LINE_END = "\n\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class SuggestedFile:
    """``output``, by whose ending it is told what is written; the config is that of ``choice``, which stays
    as it is."""

    output: str
    choice: ConfigChoice

    def check(self) -> None:
        """Raise ``UsageError`` for what could not be written, before any model is asked."""
        if self._ending not in _CONFIG_ENDINGS + _PATCH_ENDINGS:
            return
        configs = list(config_paths_or_default(self.choice.paths))
        if not configs:
            raise UsageError(f"--output {self.output}: there is no config to reword; write a .json file")
        if self._ending in _PATCH_ENDINGS:
            return
        if len(configs) > 1:
            raise UsageError(
                f"--output {self.output} is one config, and {len(configs)} are given: write a .patch file"
            )
        if self._path == configs[0].resolve():
            raise UsageError(f"--output {self.output} is the config itself, which stays as it is")

    def write(self, rewordings: Sequence[Rewording]) -> None:
        """Write them, and say which are of no tool that the config defines. Raises ``StoreError``."""
        if self._ending not in _CONFIG_ENDINGS + _PATCH_ENDINGS:
            data = {"rewordings": [each.as_dict() for each in rewordings]}
            self._put(json.dumps(data, ensure_ascii=False, indent=2) + "\n")
            return
        changed = list(self._changed(rewordings))
        placed = {each for _, _, _, taken in changed for each in taken}
        if left := [each.place for each in rewordings if each not in placed]:
            print_note(
                f"not in {self.output}: {', '.join(left)}: the config's text has no such description, or one "
                "with variables (a .json file has all)"
            )
        if not placed:
            print_note(f"{self.output} is not written: nothing of the config is reworded")
        elif self._ending in _PATCH_ENDINGS:
            self._put("".join(_patch(path, before, after) for path, before, after, _ in changed))
        else:
            [(path, _, after, _)] = changed
            self._put(after)
            if self._path.parent != path.resolve().parent:
                print_note(f"relative paths in {self.output} start at its own folder, not at that of {path}")

    @property
    def _path(self) -> Path:
        return Path(self.output).resolve()

    @property
    def _ending(self) -> str:
        return Path(self.output).suffix.lower()

    def _changed(
        self, rewordings: Sequence[Rewording]
    ) -> Iterator[tuple[Path, str, str, Sequence[Rewording]]]:
        """Each config file with its text before and after, and what was taken over."""
        from ...validation.definitions_ab.in_config import reworded_config

        for path in config_paths_or_default(self.choice.paths):
            try:
                before = read_regular(path, SIZE_LIMIT).decode("utf-8")
            except (OSError, ValueError) as error:
                raise StoreError(f"the config {path} cannot be read: {error}") from None
            yield path, before, *reworded_config(before, str(path), rewordings)

    def _put(self, text: str) -> None:
        try:
            replace_file(self._path, text.encode())
        except OSError as error:
            raise StoreError(f"the rewordings cannot be written to {self.output}: {error.strerror}") from None
        print_note(f"wrote {self.output}; no config was changed")


def _patch(path: Path, before: str, after: str) -> str:
    """The unified diff of one config, as ``git apply`` and ``patch -p1`` take it in this folder."""
    name = Path(os.path.relpath(path)).as_posix()
    lines = unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else line + _NO_LINE_END for line in lines)


def _lines(text: str) -> list[str]:
    """The lines of ``text`` with their ends: those that a patch knows, no others."""
    return _LINE.findall(text)
