"""persist-queue's SQLiteAckQueue: get marks an item, ack ends it. A restart hands unacknowledged items out again."""

from __future__ import annotations

from pathlib import Path

from persistqueue import Empty, SQLiteAckQueue

from benchmarks.queue.drivers.driver import main


class PersistQueueDriver:
    def __init__(self, path: str, durability: str) -> None:
        folder = Path(path)
        self.queue = SQLiteAckQueue(str(folder), auto_commit=True, auto_resume=False, timeout=60, multithreading=True)
        for connection in (self.queue._getter, self.queue._putter):
            connection.execute(f"PRAGMA synchronous={durability}")

    def put(self, n: int) -> None:
        self.queue.put({"n": n})

    def put_many(self, count: int, batch: int) -> None:
        for n in range(count):
            self.put(n)

    def work(self, batch: int, most: int | None = None) -> int:
        done = 0
        while done != most:
            try:
                item = self.queue.get(block=False, raw=True)
            except Empty:
                return done
            self.queue.ack(id=item["pqid"])
            done += 1
        return done

    def claim(self) -> None:
        self.queue.get(block=False, raw=True)

    def finished_rows(self, count: int) -> bool:
        connection = self.queue._putter
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
            " INSERT INTO ack_queue_default (data, timestamp, status) SELECT x'80', 0, 5 FROM n WHERE ? > 0",
            (count, count),
        )
        connection.commit()
        return True


if __name__ == "__main__":
    main(PersistQueueDriver)
