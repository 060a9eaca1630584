"""Commands that look for a way out of the sandbox, and commands that take what they can get."""

from __future__ import annotations

import json
import socket
from pathlib import Path

from tests.support.commands import running
from tests.support.raw_http import RawClient, tool_call
from tests.support.served import until, write_config
from tests.support.workspaces import write_files
from toolspan_server.engines.sandbox._choice import choice

from ..attack import Attack, Target

_SECRET, _OF_THE_SERVER = "secret-of-outside", "secret-of-the-server"
_UNUSUAL = "98765432"
_LIMITS = {"processes": 20, "total_output_bytes": 2_000_000, "cpu_seconds": 5}
_GREEDY = {
    "yes | head -c 300000000": "total_output_bytes",
    f"for i in $(seq 40); do sleep {_UNUSUAL} & done; wait": "processes",
    "trap '' TERM INT HUP; while :; do sleep 0.1; done": "timeout",
    f"setsid sleep {_UNUSUAL} & (nohup setsid sleep {_UNUSUAL} >/dev/null 2>&1 &); echo left": "left",
}


def _config(folder: Path) -> Path:
    write_files(folder, {"outside/secret.txt": _SECRET, "ws/.git/hooks/none": "", "ws/a.txt": "a"})
    config = write_config(folder)
    content = json.loads(config.read_text())
    content["services"] = {"workspaces": {"main": {"path": "ws", "bash": {"limits": _LIMITS}}}}
    content["tools"]["sources"] = [{"type": "workspace", "workspace": "main", "approval": False}]
    config.write_text(json.dumps(content))
    return config


def run(target: Target) -> None:
    """Nothing outside is read, changed or reached, and nothing of any command is left."""
    outside = target.folder / "outside"
    with RawClient(target.server.address) as client:
        if choice().confinement is not None:  # without a sandbox each command has to be asked about
            _look_for_a_way_out(client, target, outside)
            for command, told in _GREEDY.items():
                answer = _ran(client, command)
                assert told in answer and len(answer) < 1_000_000, f"{command}: {answer[:300]}"
        else:
            assert "approval" in _ran(client, "true")
    assert {path.name for path in outside.iterdir()} == {"secret.txt"}
    assert [path.name for path in (target.folder / "ws" / ".git" / "hooks").iterdir()] == ["none"]
    until(lambda: not running(f"sleep {_UNUSUAL}"), "all that the commands started to end")


def _look_for_a_way_out(client: RawClient, target: Target, outside: Path) -> None:
    reading = (
        f"cat {outside}/secret.txt ../outside/secret.txt; ln -sf {outside}/secret.txt l; cat l; "
        "cat /etc/shadow /proc/*/environ /proc/*/root/etc/shadow; env; ls -la /root /home"
    )
    answer = _ran(client, reading)
    assert _SECRET not in answer and _OF_THE_SERVER not in answer and "root:$" not in answer, answer[:500]
    places = f"{outside} {target.folder} /etc /usr /root .git/hooks"
    answer = _ran(client, f"for p in {places}; do echo evil > $p/made && echo WROTE $p; done")
    assert "WROTE /etc" not in answer and "WROTE /usr" not in answer and "WROTE .git" not in answer, answer
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        _, own = target.server.address
        ports = f"{port} {own}"
        answer = _ran(client, f"for p in {ports}; do (exec 3<>/dev/tcp/127.0.0.1/$p) && echo REACHED; done")
    assert "REACHED" not in answer, answer


def _ran(client: RawClient, command: str) -> str:
    client.send(tool_call("Bash", {"command": command, "timeout": 4_000}))
    return client.answer().body.decode()


ATTACK = Attack(
    "I12.1.16",
    "commands that look for a way out of the sandbox, or take what they can get",
    run,
    config=_config,
    env={"TOOLSPAN_ATTACK_SECRET": _OF_THE_SERVER},
    descriptors=12,
)
