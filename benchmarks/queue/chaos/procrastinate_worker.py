"""A procrastinate worker that runs two jobs at a time, with the periodic task for stalled jobs of its documentation:
`add URL FILE COUNT`, `work URL FILE`."""

from __future__ import annotations

import asyncio
import sys
import uuid

from procrastinate import App, JobContext, PsycopgConnector

from benchmarks.queue.chaos.executions import JOB_SECONDS, TIMEOUT_SECONDS, write

command, url, file = sys.argv[1:4]
app = App(connector=PsycopgConnector(conninfo=url))


@app.task(name="mark", queue="chaos")  # type: ignore[untyped-decorator]
async def mark(n: int) -> None:
    token = uuid.uuid4().hex
    write(file, token, n, "began")
    await asyncio.sleep(JOB_SECONDS)
    write(file, token, n, "ended")


@app.periodic(cron="* * * * * */5")  # type: ignore[untyped-decorator]
@app.task(name="retry_stalled", queue="chaos", queueing_lock="retry_stalled", pass_context=True)  # type: ignore[untyped-decorator]
async def retry_stalled(context: JobContext, timestamp: int) -> None:
    for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=TIMEOUT_SECONDS):
        await app.job_manager.retry_job(job)


async def add(count: int) -> None:
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await mark.configure().batch_defer_async(*({"n": n} for n in range(count)))


async def work() -> None:
    async with app.open_async():
        await app.run_worker_async(
            queues=["chaos"],
            concurrency=2,
            fetch_job_polling_interval=1.0,
            update_heartbeat_interval=TIMEOUT_SECONDS / 3,
            stalled_worker_timeout=TIMEOUT_SECONDS,
        )


if __name__ == "__main__":
    asyncio.run(work() if command == "work" else add(int(sys.argv[4])))
