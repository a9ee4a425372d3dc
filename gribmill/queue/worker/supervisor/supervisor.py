"""The supervisor: one loop that gives executors work, renews leases and replaces executors that died."""

from __future__ import annotations

import contextlib
import logging
import random
import selectors
import time
from collections.abc import Callable

from gribmill.database.protocol import FileDatabase
from gribmill.queue.errors import StoreError, StoreReplaced, StoreUnreachable
from gribmill.queue.model import WorkerState
from gribmill.queue.store import Store
from gribmill.queue.store.workers import new_worker_id
from gribmill.queue.worker.attempt_log import AttemptLog
from gribmill.queue.worker.executor.handle import ExecutorHandle
from gribmill.queue.worker.executor.lane import Lane, lane_types, make_lanes
from gribmill.queue.worker.executor.pool import ExecutorPool
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.outage import StoreOutage
from gribmill.queue.worker.supervisor.clock_skew import ClockSkew
from gribmill.queue.worker.supervisor.heartbeat import LeaseWatchdog, WorkerHeartbeat
from gribmill.queue.worker.supervisor.job_exchange import JobExchange, LoopResult
from gribmill.queue.worker.supervisor.maintenance import Maintenance
from gribmill.queue.worker.supervisor.signals import StopSignals
from gribmill.queue.worker.supervisor.trigger_poller import TriggerPoller

log = logging.getLogger("gribmill.worker")

# Spreads the polls of idle workers.
SPREAD_SECONDS = 0.05


class Supervisor:
    """Owns the store's side of every job; its executors only compute. One thread, `run_once` at a time."""

    def __init__(self, store: Store, options: WorkerOptions) -> None:
        self.store = store
        self.options = options
        self.worker_id = new_worker_id()
        self.lanes = make_lanes(store.registry, options.lanes, options.only_types, options.niceness)
        self._types_seen = store.registry.generation
        self.draining = False
        self._selector = selectors.DefaultSelector()
        self.pool = ExecutorPool(self.lanes, options, self.worker_id, self._selector, self._top_up)
        self._listener = store.database.listener()
        self._signals = StopSignals()
        self._watchdog = LeaseWatchdog(options.lease_seconds, self.pool.kill_busy, self._is_blocked)
        self._maintenance = Maintenance(store, options, self.worker_id)
        self._outage = StoreOutage()
        self._triggers = TriggerPoller(store, self._outage)
        self._triggers.leads = False
        self._skew = ClockSkew()
        attempts = AttemptLog(self.worker_id, self.pool.ending)
        self._observer = options.observer(store, self.worker_id) if options.observer is not None else None
        self.exchange = JobExchange(
            store,
            self.pool,
            attempts,
            self._outage,
            observer=self._observer,
            on_settled=self._on_settled,
            on_starved=self._note_next_due,
        )
        self._heartbeat = WorkerHeartbeat(store, self.pool, attempts, self._outage, self._watchdog, self._maintenance)
        self._next_poll = 0.0
        self._next_due = float("inf")
        self._stop_at = float("inf")

    @property
    def started_jobs(self) -> int:
        return self.exchange.started

    @property
    def finished_jobs(self) -> int:
        """The number of attempts that this worker has finished."""
        return self.exchange.finished

    # Life cycle

    def run(self, until: Callable[[], bool] | None = None) -> int:
        """Run until stopped, drained or done, or until `until` returns true; returns how many attempts it finished."""
        try:
            self.start()
            while not self.finished:
                self.run_once(self._wait_seconds())
                if until is not None and not self.pool.busy and self._is_over(until):
                    self.draining = True
        finally:
            self.close()
        return self.finished_jobs

    def _is_over(self, until: Callable[[], bool]) -> bool:
        try:
            return until()
        except StoreUnreachable as error:
            self._outage.failed(error)
            return False

    def start(self) -> None:
        """Register, start the executors, and begin to listen; raises if the database is damaged."""
        if isinstance(self.store.database, FileDatabase):
            self.store.database.check_sound()
        self._signals.install()
        self._selector.register(self._listener, selectors.EVENT_READ, self._on_notification)
        self._selector.register(self._signals, selectors.EVENT_READ, self._signals.drain)
        self._beat()
        self._maintenance.take_back()
        if self.options.until != "stopped":
            self._maintenance.run_once()  # this worker may exit before its next heartbeat
        self._watchdog.start()
        self.pool.spawn_missing()
        log.info(
            "worker %s runs %s",
            self.worker_id,
            ", ".join(f"{lane.name}×{lane.count}" for lane in self.lanes),
            extra={"types": {lane.name: [*lane.types] for lane in self.lanes}},
        )

    def run_once(self, wait_seconds: float = 0.0) -> LoopResult:
        """Wait for something to happen, at most `wait_seconds`; then do everything that is due."""
        reports, self.exchange.unsent = self.exchange.unsent, []
        for key, _ in self._selector.select(wait_seconds):
            reports += key.data() or []
        reports += self.pool.reap()
        self._obey_signals()
        self.pool.stop_overdue()
        self._look_for_work()
        if not self.draining and self._triggers.fire_if_due():
            self._feed_everyone()
        done = self.exchange.turn(reports, may_start=self._may_start)
        self._heartbeat_if_due()
        if not self.draining:
            self._maintenance.prune_some()
            self.pool.spawn_missing()
        self.pool.watch_channels()
        return done

    @property
    def finished(self) -> bool:
        """Whether this worker has nothing left to do."""
        if self.pool.busy:
            return False
        if self.exchange.unsent and self._signals.count < 2 and not self._watchdog.lapsed:
            return False
        if self.draining:
            return True
        if self.options.until == "stopped" or not any(executor.ready for executor in self.pool.executors):
            return False
        if self.options.until == "once":
            return self.started_jobs > 0 or not any(lane.wants_work for lane in self.lanes)
        return not any(lane.wants_work for lane in self.lanes)

    def close(self) -> None:
        """Stop running executors, return their jobs, and deregister."""
        for lane in self.lanes:
            for executor in list(lane.executors):
                executor.stop("shutdown", 0.0)
                self.exchange.unsent += self.pool.bury(lane, executor)
        self._watchdog.close()
        self._deregister()
        if self._observer is not None:
            self._observer.close()
        self._listener.close()
        self._signals.restore()
        self._selector.close()

    def _deregister(self) -> None:
        self.draining = True
        self._outage.try_now()
        self.exchange.deliver()
        if not self.exchange.unsent:
            self._beat("stopped")
            self.exchange.deliver()
        if self.exchange.unsent:
            log.error("%d results could not be stored: those jobs will run again", len(self.exchange.unsent))

    @property
    def _may_start(self) -> bool:
        return not (self.draining or (self.options.until == "once" and self.started_jobs))

    def _top_up(self, executor: ExecutorHandle, limit: int) -> None:
        self.exchange.top_up(executor, 0 if self.draining else limit)

    def _on_settled(self) -> None:
        """A finished job may have freed capacity of a limited type, or created jobs or events."""
        self._feed_everyone()
        self._triggers.nudge()

    # Time

    def _heartbeat_if_due(self) -> None:
        if self._heartbeat.is_due:
            self._triggers.nudge()
            self._follow_definitions()
            if self._beat() and self._maintenance.run_once():
                self._feed_everyone()

    def _beat(self, state: WorkerState | None = None) -> bool:
        renewed = self._heartbeat.beat(state or ("draining" if self.draining else "active"))
        self.exchange.unsent += self._heartbeat.strays
        self._heartbeat.strays.clear()
        if renewed and not self.draining:
            self._obey_operator()
        self._lead(willing=renewed and not self.draining)
        return renewed

    def _obey_operator(self) -> None:
        """Drain if an operator has asked for it since the last heartbeat."""
        with contextlib.suppress(StoreError):
            if self.store.workers.asked_to_drain(self.worker_id):
                self._drain("asked to drain")

    def _lead(self, *, willing: bool) -> None:
        """Acquire, renew or give up leadership. It only avoids duplicate work: the slot's row ensures one firing."""
        led, self._triggers.leads = self._triggers.leads, False
        with contextlib.suppress(StoreError):
            if willing:
                self._triggers.leads = self.store.workers.lead(self.worker_id, self.options.lease_seconds)
                self._skew.note(self.store.workers.clock_offset())
            elif led and not self._outage.lasts:
                self.store.workers.resign(self.worker_id)
        if self._triggers.leads and not led:
            self._triggers.nudge()
            log.info("worker %s fires the schedules", self.worker_id)

    def _look_for_work(self) -> None:
        """Poll slowly as a fallback for missed wake-ups: it notices any commit of any program."""
        now = time.monotonic()
        if now < self._next_poll and now < self._next_due:
            return
        self._next_poll = now + self.options.poll_seconds
        try:
            if self.store.database.may_have_work() or now >= self._next_due:
                self._on_wake()
        except StoreReplaced:
            raise  # ends this worker: new jobs are enqueued in another file
        except StoreError as error:
            self._outage.failed(error)

    def _follow_definitions(self) -> None:
        """Pick up types that operators added or moved to another lane."""
        registry = self.store.registry
        with contextlib.suppress(StoreError):
            registry.refresh()
        if registry.generation == self._types_seen:
            return
        self._types_seen = registry.generation
        types = lane_types(registry, self.options.only_types)
        for lane in self.lanes:
            lane.types = types.pop(lane.name, ())
        for name in types.keys() & self.options.lanes.keys():
            self.lanes.append(Lane(name, types[name], self.options.lanes[name], self.options.niceness.get(name, 0)))

    def _on_notification(self) -> None:
        """A server's notifications wake the workers of all hosts, and all but one come too late. So an idle worker that
        is not the leader waits for a moment and checks for work first, which costs less than a claim."""
        if self.pool.busy or self._triggers.leads or isinstance(self.store.database, FileDatabase):
            self._on_wake()
            return
        self._listener.drain()
        self._triggers.nudge()
        moment = random.uniform(0.0, SPREAD_SECONDS)  # noqa: S311 — nothing depends on it
        self._next_poll = min(self._next_poll, time.monotonic() + moment)

    def _on_wake(self) -> None:
        self._listener.drain()
        self._follow_definitions()
        self._next_due = float("inf")
        self._triggers.nudge()
        self._feed_everyone()
        if self.pool.busy:
            with contextlib.suppress(StoreError):
                self.pool.stop_cancelled(self.store.attempts.cancellations(self.worker_id))

    def _feed_everyone(self) -> None:
        for lane in self.lanes:
            lane.wants_work = True

    def _note_next_due(self) -> None:
        with contextlib.suppress(StoreError):
            seconds = self.store.jobs.seconds_to_next_due()
            if seconds is not None:
                self._next_due = time.monotonic() + max(seconds, 0.001)

    def _wait_seconds(self) -> float:
        """Seconds until the next timed action."""
        if self._maintenance.is_pruning and not self.draining:
            return 0.0
        moments = [self._heartbeat.next_at, self._next_poll, self._next_due]
        if time.monotonic() < self._stop_at:
            moments.append(self._stop_at)
        moments += self.pool.due()
        if not self.draining:
            moments += [self._triggers.next_look, *(lane.respawn_at for lane in self.lanes if lane.missing > 0)]
        # A worker that exits when the queue is empty claims again at once; others wait for a wake-up or their poll.
        in_a_hurry = self.options.until != "stopped" or self._outage.lasts
        if self.exchange.unsent or (in_a_hurry and self._hungry):
            moments.append(self._outage.back_at)
        return max(0.0, min(moments) - time.monotonic())

    @property
    def _hungry(self) -> bool:
        return self._may_start and any(lane.wants_work and lane.idle for lane in self.lanes)

    # Stopping

    def _obey_signals(self) -> None:
        if self._signals.count and not self.draining:
            self._drain("draining")
        if self._signals.count > 1 or time.monotonic() >= self._stop_at:
            for executor in self.pool.executors:
                if executor.batch:
                    executor.stop("shutdown", self.options.kill_grace_seconds)

    def _drain(self, why: str) -> None:
        self.draining = True
        self._stop_at = time.monotonic() + self.options.drain_seconds
        self._heartbeat.hurry()
        log.info("%s: %d executors still work; a second signal stops them now", why, self.pool.busy)

    def _is_blocked(self) -> bool:
        """Whether all writers are blocked. Called by the lease watchdog from its own thread."""
        database = self.store.database
        return isinstance(database, FileDatabase) and database.blocked()
