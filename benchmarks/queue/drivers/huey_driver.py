"""huey with SqliteHuey. A dequeued task is deleted at once: a crash loses it."""

from __future__ import annotations

from huey import SqliteHuey  # type: ignore[import-not-found]

from benchmarks.queue.drivers.driver import main


class HueyDriver:
    def __init__(self, path: str, durability: str) -> None:
        self.huey = SqliteHuey("bench", filename=path, fsync=True, results=False)
        if durability != "full":
            self.huey.storage.conn.execute("pragma synchronous=normal")
        self.echo = self.huey.task()(echo)

    def put(self, n: int) -> None:
        self.echo(n)

    def put_many(self, first: int, count: int) -> None:
        for n in range(first, first + count):
            self.echo(n)

    def work(self, batch: int) -> int:
        done = 0
        while (task := self.huey.dequeue()) is not None:
            self.huey.execute(task)
            done += 1
        return done

    def claim_once(self) -> None:
        self.huey.execute(self.huey.dequeue())

    def finished_rows(self, count: int) -> bool:
        return count == 0


def echo(n: int) -> None:
    """Does nothing."""


if __name__ == "__main__":
    main(HueyDriver)
