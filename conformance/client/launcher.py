"""``python launcher.py SOCKET URL``: has a warm client use the server at URL, and ends as it does.

It imports next to nothing: the suite starts some thirty of them at once.
"""

import os
import socket
import sys


def main(place: str, url: str) -> int:
    """The exit code of the client, which writes to the standard streams of this process."""
    told = "\0".join([url, *(f"{name}={value}" for name, value in os.environ.items())]).encode()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(place)
        socket.send_fds(client, [len(told).to_bytes(8, "big")], [1, 2])
        client.sendall(told)
        code = client.recv(1)
    return code[0] if code else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
