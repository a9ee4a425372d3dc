"""litequeue: pop locks a message, done() marks it. No leases: a crashed worker's message stays locked."""

from __future__ import annotations

import json

from litequeue import LiteQueue

from benchmarks.queue.drivers.driver import main


class LitequeueDriver:
    def __init__(self, path: str, durability: str) -> None:
        self.queue = LiteQueue(path, timeout=60)
        if durability == "full":
            self.queue.conn.execute("PRAGMA synchronous = FULL")

    def put(self, n: int) -> None:
        self.queue.put(json.dumps({"n": n}))

    def put_many(self, count: int, batch: int) -> None:
        with self.queue.transaction(mode="IMMEDIATE"):
            for n in range(count):
                self.put(n)

    def work(self, batch: int, most: int | None = None) -> int:
        done = 0
        while done != most and (message := self.queue.pop()) is not None:
            self.queue.done(message.message_id)
            done += 1
        return done

    def claim(self) -> None:
        self.queue.pop()

    def finished_rows(self, count: int) -> bool:
        self.queue.conn.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
            f" INSERT INTO {self.queue.table} SELECT '', printf('0%015d', i), 2, 0, 0, 0 FROM n WHERE ? > 0",
            (count, count),
        )
        return True


if __name__ == "__main__":
    main(LitequeueDriver)
