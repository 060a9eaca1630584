"""``python -m benchmarks.gateway``: what a request costs through a gateway, beside other gateways.

Every gateway forwards to the same provider, Chat Completions on loopback. Requests take turns between them,
one at a time, plain and streamed; then each holds many streams at once, in turns too. Last, how soon the page
of ``toolspan ui`` comes, and how large it is. ``--install`` installs LiteLLM's proxy.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from statistics import median

from .gateways import BARE, DIRECT, FOLDER, STARTERS, Gateway, is_here, running
from .install import install_gateways
from .measures.gateway import first_texts, one_request, streams
from .measures.page import page

HEADS = (
    "gateway",
    "a request, p50 (ms)",
    "of it the gateway's",
    "× bare",
    "processor (ms)",
    "× bare",
    "first text, p50 (ms)",
    "× bare",
    "processor, streamed (ms)",
    "streams",
    "whole",
    "MiB",
)
DELTAS = 20


def measured(
    names: Sequence[str], model: int, rounds: int, requests: int, at_once: int, stream_rounds: int
) -> dict[str, Gateway]:
    """Every gateway of ``names``, in turns, so that what else the machine does falls on all."""
    with ExitStack() as stack:
        found = {DIRECT: Gateway(model, "fake")}
        for name in names:
            if is_here(name):
                found[name] = stack.enter_context(running(name, model))
        for number in range(rounds + 1):
            for gateway in found.values():
                _round(gateway, requests, kept=number > 0)  # the first one warms up
        for _ in range(stream_rounds):
            for gateway in found.values():
                gateway.streams.append(streams(gateway.port, gateway.model, at_once, deltas=DELTAS))
        for gateway in found.values():
            gateway.mebibytes = gateway.peak_mb()
    return found


def _round(gateway: Gateway, requests: int, *, kept: bool) -> None:
    before = gateway.processor_s()
    plain = one_request(gateway.port, gateway.model, requests)
    between = gateway.processor_s()
    first = first_texts(gateway.port, gateway.model, requests)
    after = gateway.processor_s()
    if kept:
        gateway.plain.append(median(plain))
        gateway.plain_processor.append((between - before) / requests)
        gateway.first.append(median(first))
        gateway.streamed_processor.append((after - between) / requests)


def rows(found: Mapping[str, Gateway]) -> Iterator[Sequence[str]]:
    """A row a gateway: medians over the rounds, and of ratios those within one round."""
    direct, bare = found[DIRECT], found[BARE]
    for name, gateway in found.items():
        is_gateway = gateway.process is not None
        held = gateway.streams
        whole = f"{sum(each.whole for each in held)} of {sum(each.count for each in held)}"
        yield (
            name,
            _ms(gateway.plain),
            _ms(_beyond(gateway.plain, direct.plain)),
            _times(_beyond(gateway.plain, direct.plain), _beyond(bare.plain, direct.plain), is_gateway),
            _ms(gateway.plain_processor) if is_gateway else "",
            _times(gateway.plain_processor, bare.plain_processor, is_gateway),
            _ms(gateway.first),
            _times(_beyond(gateway.first, direct.first), _beyond(bare.first, direct.first), is_gateway),
            _ms(gateway.streamed_processor) if is_gateway else "",
            f"{median(each.seconds for each in held):.2f} s" if held else "",
            whole,
            f"{gateway.mebibytes:.0f}" if is_gateway else "",
        )


def _beyond(values: Sequence[float], floor: Sequence[float]) -> list[float]:
    """What each round took beyond the floor of the same round."""
    return [value - least for value, least in zip(values, floor, strict=True)]


def _ms(values: Sequence[float]) -> str:
    return f"{median(values) * 1000:.2f}"


def _times(values: Sequence[float], others: Sequence[float], is_gateway: bool) -> str:
    return f"{median(a / b for a, b in zip(values, others, strict=True)):.1f}" if is_gateway else ""


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gateway", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--requests", type=int, default=40, help="requests of a sort to each in a round")
    parser.add_argument("--streams", type=int, default=500, help="streams that each holds at once")
    parser.add_argument("--stream-rounds", type=int, default=3)
    parser.add_argument("--only", action="append", choices=STARTERS, help="beside the bare app")
    parser.add_argument("--install", action="store_true", help="install the gateways of others first")
    options = parser.parse_args()
    if options.install:
        install_gateways()
    names = [name for name in STARTERS if not options.only or name in (BARE, *options.only)]
    model = subprocess.Popen([sys.executable, FOLDER / "model.py"], stdout=subprocess.PIPE, text=True)
    try:
        assert model.stdout is not None
        port = int(model.stdout.readline())
        found = measured(
            names, port, options.rounds, options.requests, options.streams, options.stream_rounds
        )
    finally:
        model.kill()
        model.wait()
    print("| " + " | ".join(HEADS) + " |\n|" + "---|" * len(HEADS))
    for row in rows(found):
        print("| " + " | ".join(row) + " |")
    seen = page(options.rounds)
    print(
        f"\nthe page: first byte after {seen.first_s * 1000:.1f} ms (p50), the slowest of its {seen.files} "
        f"files {seen.slowest_s * 1000:.1f} ms; {seen.sent / 1000:.0f} kB as sent, {seen.size / 1000:.0f} kB "
        "uncompressed"
    )
    print(
        f"load average: {', '.join(f'{each:.1f}' for each in os.getloadavg())} on {os.cpu_count()} processors"
    )


if __name__ == "__main__":
    main()
