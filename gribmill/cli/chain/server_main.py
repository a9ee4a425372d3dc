"""The server process of `gribmill run --serve`. It exits when the process that started it does."""

from __future__ import annotations

import json
import socket
import sys
import threading

from gribmill.console.extension import CONSOLE
from gribmill.logs import set_up_logging
from gribmill.server.app import create_app
from gribmill.server.serving import GribmillServer, make_server
from gribmill.settings.schema import Settings


def main() -> None:
    """`python -m gribmill.cli.chain.server_main FD`: serve on that socket.

    The first line of stdin has the settings. When stdin closes, the parent has exited, and the server stops.
    """
    listening = socket.socket(fileno=int(sys.argv[1]))
    start = json.loads(sys.stdin.readline())
    settings = Settings.model_validate(start["settings"])
    set_up_logging(settings.log)
    app = create_app(settings, dev=start["dev"], extensions=[CONSOLE])
    server = make_server(app, settings.server, _say_ready, warms_up=True)
    threading.Thread(target=_end_with_parent, args=(server,), daemon=True).start()
    server.run([listening])


def _say_ready(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()


def _end_with_parent(server: GribmillServer) -> None:
    sys.stdin.read()
    server.should_exit = True


if __name__ == "__main__":
    main()
