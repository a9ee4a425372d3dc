"""huey with SqliteHuey and default settings: a task is deleted when it is claimed; its result is kept."""

from __future__ import annotations

from huey import SqliteHuey

from benchmarks.queue.drivers.driver import main

# Its default of five seconds ends in "database is locked" on a busy machine.
LOCK_TIMEOUT_SECONDS = 60


class HueyDriver:
    records_ends = True

    def __init__(self, path: str, durability: str) -> None:
        self.huey = SqliteHuey(
            "bench", filename=path, fsync=True, timeout=LOCK_TIMEOUT_SECONDS, results=self.records_ends
        )
        if durability != "full":
            self.huey.storage.conn.execute("pragma synchronous=normal")
        self.echo = self.huey.task()(echo)

    def put(self, n: int) -> None:
        self.echo(n)

    def put_many(self, count: int, batch: int) -> None:
        for n in range(count):
            self.echo(n)

    def work(self, batch: int, most: int | None = None) -> int:
        done = 0
        while done != most and (task := self.huey.dequeue()) is not None:
            self.huey.execute(task)
            done += 1
        return done

    def claim(self) -> None:
        self.huey.dequeue()

    def finished_rows(self, count: int) -> bool:
        return count == 0


def echo(n: int) -> int:
    """huey records the end of a task that returns something."""
    return n


if __name__ == "__main__":
    main(HueyDriver)
