"""``toolspan ask`` with the offline picker, from its start to its end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

_QUESTION = "What's the weather in Paris?"
_CONFIG = """version: 1
tools:
  registry:
    - name: get_weather
      description: Current weather for a place.
      parameters: {type: object, properties: {location: {type: string}}, required: [location]}
      implementation: {type: mock, mock_response: {temperature: 22, condition: sunny}}
"""


def ask_cpu_ms() -> float:
    """Milliseconds of processor time, user's and system's, of the command and of the server that it starts.

    Raises ``RuntimeError`` where the system does not tell, or when the answer is another.
    """
    if sys.platform == "win32":
        raise RuntimeError("the processor time of child processes is not told on Windows")
    from resource import RUSAGE_CHILDREN, getrusage

    command = [str(Path(sys.executable).parent / "toolspan"), "ask", _QUESTION, "--model", "offline/keyword"]
    with TemporaryDirectory() as folder:
        config = Path(folder) / "toolspan.yaml"
        config.write_text(_CONFIG)
        before = getrusage(RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        after = getrusage(RUSAGE_CHILDREN)
    if "temperature 22" not in done.stdout:
        raise RuntimeError(f"another answer: {done.stdout!r}")
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000
