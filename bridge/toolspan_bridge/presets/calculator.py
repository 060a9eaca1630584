"""The calculator that presets enable, for those who have none in a config of their own."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

from toolspan_server.engines.upstreams import ServerSpec

CALCULATOR = "calculator"
_CONFIG = Path(__file__).with_name("calculator.yaml")
_STATE = "TOOLSPAN_CALCULATOR_STATE"
"""The variable by which its config knows the folder of its state."""


def calculator_server(state_dir: Path, taken: Collection[str] = ()) -> ServerSpec:
    """A server of ours with the calculator alone, whose history is kept in ``state_dir``; its name is none of
    those ``taken``."""
    return ServerSpec(
        name=CALCULATOR if CALCULATOR not in taken else f"{CALCULATOR}-own",
        command=(
            sys.executable,
            "-P",
            "-m",
            "toolspan_server",
            "--principals",
            "meta",
            "--config",
            str(_CONFIG),
        ),
        env={_STATE: str(state_dir.absolute())},
        inherit_env=True,
        connect_timeout=60.0,
        own=True,
    )
