"""Exit code 0 if a worker of this host has sent a heartbeat lately: the health check of the image and of Kubernetes."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

TIMEOUT_SECONDS = 15


def main() -> int:
    try:
        asked = subprocess.run(
            ["gribmill", "workers", "--json"], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=True
        )
        workers = json.loads(asked.stdout)
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        sys.stderr.write(f"the queue cannot be asked: {error}\n")
        return 1
    own = [one for one in workers if one["hostname"] == socket.gethostname()]
    if any(one["state"] != "stopped" and not one["stale"] for one in own):
        return 0
    sys.stderr.write(f"no worker of {socket.gethostname()} has sent a heartbeat lately\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
