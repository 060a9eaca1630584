"""Runs modules whose text was read before, so that what was looked at is what is run."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from typing_extensions import override

MOST_OF_MODULE = 16 * 1024 * 1024
"""The longest module that is read, in bytes."""


def run_text(name: str, path: Path, text: bytes) -> ModuleType:
    """The module ``name`` made of ``text``, which was read from ``path``; nothing compiled is used.

    Raises whatever the module raises, which is then not kept.
    """
    spec = importlib.util.spec_from_file_location(name, path, loader=_TextLoader(name, str(path), text))
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


class _TextLoader(SourceFileLoader):
    def __init__(self, name: str, path: str, text: bytes) -> None:
        super().__init__(name, path)
        self._text = text

    @override
    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self._text, self.path)
        return code
