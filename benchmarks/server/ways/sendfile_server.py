"""Sends one file with sendfile(2), and does as little else as possible: `python sendfile_server.py FILE PORT`."""

import contextlib
import os
import socket
import sys
import threading
from pathlib import Path


def serve(connection: socket.socket, path: Path) -> None:
    with contextlib.suppress(ConnectionError):  # the load ends in the middle of a response
        answer(connection, path)


def answer(connection: socket.socket, path: Path) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection, path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode()
        waiting = b""
        while True:
            while b"\r\n\r\n" not in waiting:
                received = connection.recv(65536)
                if not received:
                    return
                waiting += received
            waiting = waiting.split(b"\r\n\r\n", 1)[1]
            connection.sendall(head)
            connection.sendfile(file, 0)


def main() -> None:
    with socket.create_server(("127.0.0.1", int(sys.argv[2]))) as listening:
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=serve, args=(connection, Path(sys.argv[1])), daemon=True).start()


main()
