"""``python -m benchmarks.gateway``: what a request costs through a gateway, beside other gateways.

Every gateway forwards to the same provider, Chat Completions on loopback. Requests take turns between them,
one at a time; then each holds many streams at once. ``--install`` installs LiteLLM's proxy.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from .install import gateway_program, install_gateways
from .measures.gateway import Streams, one_request, streams
from .processes import children, free_port, resident_mb, stop, wait_for_port

FOLDER = Path(__file__).parent / "peers" / "gateways"
DIRECT = "no gateway"
BARE = "bare forwarding app"
HEADS = ("gateway", "a request, p50 (ms)", "of it the gateway's", "× bare", "streams", "whole", "MiB")


@dataclass(slots=True)
class Gateway:
    """A running gateway: its port, its processes, and what was measured."""

    port: int
    model: str
    process: subprocess.Popen[bytes] | None = None
    seconds: list[float] = field(default_factory=list[float])
    streams: Streams | None = None
    mebibytes: float = 0.0

    def memory(self) -> float:
        """Resident memory of all its processes, in MiB."""
        if self.process is None:
            return 0.0
        pids = [self.process.pid, *children(self.process.pid)]
        return sum(resident_mb(pid) for pid in pids)


Starter = Callable[[int, int, Path], Sequence[str]]


def _bare(port: int, model: int, _folder: Path) -> Sequence[str]:
    return (sys.executable, str(FOLDER / "bare.py"), str(port), f"http://127.0.0.1:{model}/v1")


def _toolspan(port: int, model: int, folder: Path) -> Sequence[str]:
    config = folder / "toolspan.yaml"
    url = f"http://127.0.0.1:{model}/v1"
    config.write_text(f"providers:\n  fake: {{base_url: '{url}'}}\n")
    named = ("--config", str(config), "--port", str(port))
    return (sys.executable, "-m", "toolspan_bridge", "gateway", *named)


def _litellm(port: int, model: int, folder: Path) -> Sequence[str]:
    config = folder / "litellm.yaml"
    url = f"http://127.0.0.1:{model}/v1"
    params = f"{{model: openai/fake, api_base: '{url}', api_key: none}}"
    config.write_text(f"model_list:\n  - model_name: fake\n    litellm_params: {params}\n")
    program = gateway_program("litellm")
    return (str(program), "--config", str(config), "--host", "127.0.0.1", "--port", str(port))


STARTERS: Mapping[str, tuple[Starter, str]] = {
    BARE: (_bare, "fake"),
    "toolspan": (_toolspan, "fake/fake"),
    "litellm": (_litellm, "fake"),
}


@contextmanager
def running(starter: Starter, model_name: str, model: int, start_s: float) -> Iterator[Gateway]:
    """The gateway, until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = starter(port, model, Path(folder))
        quiet = {**os.environ, "LITELLM_LOG": "ERROR", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        quiet["LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"] = "true"  # others have no key either
        output = subprocess.DEVNULL
        process = subprocess.Popen(
            command, cwd=folder, env=quiet, stdin=output, stdout=output, stderr=output, start_new_session=True
        )
        try:
            wait_for_port(port, process, start_s)
            yield Gateway(port, model_name, process)
        finally:
            stop(process)


def measured(model: int, rounds: int, requests: int, at_once: int) -> dict[str, Gateway]:
    """Every gateway that is here, in turns, so that what else the machine does falls on all."""
    with ExitStack() as stack:
        found = {DIRECT: Gateway(model, "fake")}
        for name, (starter, model_name) in STARTERS.items():
            if name == "litellm" and not gateway_program(name).exists():
                print(f"{name} is not here: python -m benchmarks.gateway --install", file=sys.stderr)
                continue
            found[name] = stack.enter_context(running(starter, model_name, model, start_s=120))
        for number in range(rounds + 1):
            for gateway in found.values():
                seconds = one_request(gateway.port, gateway.model, requests)
                if number:  # the first one warms up
                    gateway.seconds += seconds
        for gateway in found.values():
            gateway.streams = streams(gateway.port, gateway.model, at_once, deltas=20)
            gateway.mebibytes = gateway.memory()
    return found


def rows(found: Mapping[str, Gateway]) -> Iterator[Sequence[str]]:
    """A row a gateway."""
    ms = {name: median(each.seconds) * 1000 for name, each in found.items()}
    own = {name: each - ms[DIRECT] for name, each in ms.items()}
    for name, gateway in found.items():
        times = "" if name == DIRECT else f"{own[name] / own[BARE]:.1f}"
        held = gateway.streams
        assert held is not None
        whole = f"{held.whole} of {held.count}"
        memory = f"{gateway.mebibytes:.0f}" if gateway.process else ""
        yield name, f"{ms[name]:.2f}", f"{own[name]:.2f}", times, f"{held.seconds:.2f} s", whole, memory


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gateway", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=100, help="requests to each gateway in a round")
    parser.add_argument("--streams", type=int, default=500, help="streams that each holds at once")
    parser.add_argument("--install", action="store_true", help="install the gateways of others first")
    options = parser.parse_args()
    if options.install:
        install_gateways()
    model = subprocess.Popen([sys.executable, FOLDER / "model.py"], stdout=subprocess.PIPE, text=True)
    try:
        assert model.stdout is not None
        found = measured(int(model.stdout.readline()), options.rounds, options.requests, options.streams)
    finally:
        model.kill()
        model.wait()
    print("| " + " | ".join(HEADS) + " |\n|" + "---|" * len(HEADS))
    for row in rows(found):
        print("| " + " | ".join(row) + " |")
    print(f"\nload average: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
