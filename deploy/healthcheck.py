"""Exit code 0 if a worker of this host has sent a heartbeat lately: the health check of the image and of Kubernetes.

Also 0 while the database cannot be reached: workers reconnect when it is back, and a restart would not help them.
With a URL: 0 if the server answers there.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.request

TIMEOUT_SECONDS = 15


def main(arguments: list[str]) -> int:
    return server_answers(arguments[0]) if arguments else worker_lives()


def server_answers(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS):  # noqa: S310 — of the container's own configuration
            return 0
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{url} does not answer: {error}\n")
        return 1


def worker_lives() -> int:
    try:
        asked = subprocess.run(
            ["gribmill", "workers", "--json"], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=True
        )
        workers = json.loads(asked.stdout)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        sys.stderr.write(f"the queue cannot be read: {error}\n")
        return 0
    except (OSError, ValueError) as error:
        sys.stderr.write(f"gribmill does not work here: {error}\n")
        return 1
    own = [one for one in workers if one["hostname"] == socket.gethostname()]
    if any(one["state"] != "stopped" and not one["stale"] for one in own):
        return 0
    sys.stderr.write(f"no worker of {socket.gethostname()} has sent a heartbeat lately\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
