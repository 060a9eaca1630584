"""The gateways that are measured: how each is started, and what it is while it runs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .install import gateway_program
from .measures.gateway import Streams
from .processes import children, free_port, peak_mb, processor_s, stop, wait_for_port

FOLDER = Path(__file__).parent / "peers" / "gateways"
DIRECT = "no gateway"
BARE = "bare forwarding app"
TOOLSPAN = "toolspan"
LITELLM = "litellm"
TOOLS = 20
_START_S = 120


@dataclass(slots=True)
class Gateway:
    """A running gateway: its port, its model's name, its process, and what was measured of it, round by
    round: the medians of plain requests and of first texts, the processor time of a request of either sort,
    all in seconds; streams at once, and the most memory."""

    port: int
    model: str
    process: subprocess.Popen[bytes] | None = None
    plain: list[float] = field(default_factory=list[float])
    plain_processor: list[float] = field(default_factory=list[float])
    first: list[float] = field(default_factory=list[float])
    streamed_processor: list[float] = field(default_factory=list[float])
    streams: list[Streams] = field(default_factory=list[Streams])
    mebibytes: float = 0.0

    @property
    def _pids(self) -> list[int]:
        return [] if self.process is None else [self.process.pid, *children(self.process.pid)]

    def processor_s(self) -> float:
        """The processor time of all its processes so far, in seconds."""
        return sum(processor_s(pid) for pid in self._pids)

    def peak_mb(self) -> float:
        """The most resident memory that all its processes have had, in MiB."""
        return sum(peak_mb(pid) for pid in self._pids)


Starter = Callable[[int, int, Path], Sequence[str]]
"""The command of a gateway at a port, to the model at a port, with its config in a folder."""


def _bare(port: int, model: int, _folder: Path) -> Sequence[str]:
    return (sys.executable, str(FOLDER / "bare.py"), str(port), f"http://127.0.0.1:{model}/v1")


def _toolspan(port: int, model: int, folder: Path) -> Sequence[str]:
    return _toolspan_with("", port, model, folder)


def _toolspan_tools(port: int, model: int, folder: Path) -> Sequence[str]:
    tools = "".join(
        f"    - name: tool_{number}\n"
        f"      description: Gives what is asked for, number {number}.\n"
        "      parameters: {type: object, properties: {text: {type: string}}, required: [text]}\n"
        "      implementation: {type: mock, response: {success: true, result: done}}\n"
        for number in range(TOOLS)
    )
    return _toolspan_with(f"tools:\n  registry:\n{tools}", port, model, folder)


def _toolspan_with(more: str, port: int, model: int, folder: Path) -> Sequence[str]:
    config = folder / "toolspan.yaml"
    config.write_text(f"providers:\n  fake: {{base_url: 'http://127.0.0.1:{model}/v1'}}\n{more}")
    named = ("--config", str(config), "--port", str(port))
    return (sys.executable, "-m", "toolspan_bridge", "gateway", *named)


def _litellm(port: int, model: int, folder: Path) -> Sequence[str]:
    config = folder / "litellm.yaml"
    url = f"http://127.0.0.1:{model}/v1"
    params = f"{{model: openai/fake, api_base: '{url}', api_key: none}}"
    config.write_text(f"model_list:\n  - model_name: fake\n    litellm_params: {params}\n")
    program = gateway_program(LITELLM)
    return (str(program), "--config", str(config), "--host", "127.0.0.1", "--port", str(port))


STARTERS: Mapping[str, tuple[Starter, str]] = {
    BARE: (_bare, "fake"),
    TOOLSPAN: (_toolspan, "fake/fake"),
    f"toolspan, {TOOLS} tools": (_toolspan_tools, "fake/fake"),
    LITELLM: (_litellm, "fake"),
}


def is_here(name: str) -> bool:
    """Whether the gateway can be started: one that is not is told on standard error."""
    if name != LITELLM or gateway_program(name).exists():
        return True
    print(f"{name} is not here: python -m benchmarks.gateway --install", file=sys.stderr)
    return False


@contextmanager
def running(name: str, model: int) -> Generator[Gateway]:
    """The gateway before the model at a port, until the block ends."""
    starter, model_name = STARTERS[name]
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = starter(port, model, Path(folder))
        quiet = {**os.environ, "LITELLM_LOG": "ERROR", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        quiet["LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"] = "true"  # others have no key either
        with serving(command, port, folder, quiet) as process:
            yield Gateway(port, model_name, process)


@contextmanager
def serving(
    command: Sequence[str], port: int, folder: str, environment: Mapping[str, str] | None = None
) -> Generator[subprocess.Popen[bytes]]:
    """The process of a command that serves at a port, until the block ends."""
    output = subprocess.DEVNULL
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=output,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )
    try:
        wait_for_port(port, process, _START_S)
        yield process
    finally:
        stop(process)
