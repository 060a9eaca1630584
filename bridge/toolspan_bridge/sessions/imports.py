"""Imports beside a wait: what is needed next loads while a server's process starts."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from threading import Thread


def import_meanwhile(modules: Sequence[str]) -> None:
    """Begin to import ``modules``, in this order, and return at once.

    Who imports one of them meanwhile waits for it, and gets the error if there is one.
    """
    if modules:
        Thread(target=_import, args=(modules,), name="imports").start()


def _import(modules: Sequence[str]) -> None:
    for module in modules:
        import_module(module)
