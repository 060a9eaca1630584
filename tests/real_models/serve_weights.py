"""``serve_weights.py FOLDER WEIGHTS PORT CONTEXT THREADS AT_ONCE``: llama.cpp's server in FOLDER."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def main() -> None:
    """Serve the weights on loopback until standard input ends."""
    folder, weights, port, context, threads, at_once = sys.argv[1:]
    sys.path.insert(0, folder)
    llama: Any = importlib.import_module("xllamacpp")
    settings = llama.CommonParams()
    settings.model.path = weights
    settings.n_ctx, settings.n_parallel = int(context), int(at_once)
    settings.cpuparams.n_threads = int(threads)
    settings.use_jinja = True
    settings.port = int(port)
    server = llama.Server(settings)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main()
