"""The channel between supervisor and executors."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

import pytest

from gribmill.queue.errors import QueueError
from gribmill.queue.model import Claimed, Effect, Failed, NewJob, Outcome, Snoozed, Stopped, Succeeded, Transfer
from gribmill.queue.worker.executor.ipc import (
    REPORT_LIMIT,
    BadMessage,
    Channel,
    claimed_from_message,
    claimed_to_message,
)
from gribmill.queue.worker.outcome_message import outcome_from_message, outcome_to_message


@pytest.fixture
def ends() -> Any:
    ours, theirs = socket.socketpair()
    yield Channel(ours), Channel(theirs)
    ours.close()
    theirs.close()


OUTCOMES: list[Outcome] = [
    Succeeded(),
    Succeeded(
        then=(NewJob("sleep", {"seconds": 1}, priority=3, after=(1, 2)),),
        also=(Effect("tile_built", '{"a": null, "b": 1.5}'),),
        artifacts=("a", "b"),
        skipped="was there",
    ),
    Failed("no", permanent=True, timeout=True, transfer=Transfer(7, 5)),
    Snoozed(2.5, "later", transfer=Transfer(0)),
    Stopped("halt"),
]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_outcomes_arrive_as_they_were_sent(outcome: Outcome) -> None:
    assert outcome_from_message(json.loads(json.dumps(outcome_to_message(outcome)))) == outcome


def test_claims_arrive_as_they_were_sent() -> None:
    job = Claimed(1, "sleep", "{}", "global", None, 1, 2, 1, 3)
    assert claimed_from_message(json.loads(json.dumps(claimed_to_message(job)))) == job


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"kind": "exploded"},
        {"kind": ["failed"]},
        {"kind": "failed"},
        {"kind": "failed", "error": 7},
        {"kind": "snoozed", "seconds": "soon"},
        {"kind": "snoozed", "seconds": float("nan")},
        {"kind": "snoozed", "seconds": -1},
        {"kind": "snoozed", "seconds": 1e300},
        {"kind": "succeeded", "then": 7},
        {"kind": "succeeded", "then": [{"args": {}}]},
        {"kind": "succeeded", "then": [{"type": "sleep", "args": [1]}]},
        {"kind": "succeeded", "also": [{"kind": "x"}]},
        {"kind": "succeeded", "artifacts": 5},
        {"kind": "succeeded", "transfer": {"downloaded": -1}},
        {"kind": "failed", "error": "", "transfer": {"written": 2**63}},
        {"kind": "snoozed", "seconds": 1, "transfer": {"written": "much"}},
    ],
)
def test_a_return_value_that_is_not_an_outcome_is_refused(message: dict[str, Any]) -> None:
    with pytest.raises(QueueError, match="the handler"):
        outcome_from_message(message)


def test_message_may_arrive_in_pieces(ends: tuple[Channel, Channel]) -> None:
    ours, theirs = ends
    data = json.dumps({"report": "x" * 100}).encode()
    for byte in struct.pack("!I", len(data)) + data[:-1]:
        theirs._socket.send(bytes([byte]))
        assert ours.receive_ready() == ([], True)
    theirs._socket.send(data[-1:])
    theirs.send({"ready": True})
    assert ours.receive_ready() == ([{"report": "x" * 100}, {"ready": True}], True)
    theirs.close()
    assert ours.receive_ready() == ([], False)


def test_posting_never_blocks_and_loses_nothing(ends: tuple[Channel, Channel]) -> None:
    ours, theirs = ends
    for n in range(20):
        ours.post({"run": n, "text": "x" * 100_000})
    assert ours.clogged
    for n in range(20):
        message = theirs.receive()
        assert message is not None and message["run"] == n
        ours.flush()
    assert not ours.clogged


def test_posting_to_a_dead_process_is_not_an_error(ends: tuple[Channel, Channel]) -> None:
    ours, theirs = ends
    theirs.close()
    for _ in range(3):
        ours.post({"run": "x" * 1_000_000})
    assert not ours.clogged


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("!I", REPORT_LIMIT + 1),
        struct.pack("!I", 5) + b"start",
        struct.pack("!I", 2) + b"17",
        struct.pack("!I", 200_000) + b"[" * 200_000,
    ],
)
def test_invalid_messages_are_recognised(ends: tuple[Channel, Channel], data: bytes) -> None:
    ours, theirs = ends
    theirs.post({})
    ours.receive_ready()
    theirs._posted += data
    with pytest.raises(BadMessage):
        while True:
            theirs.flush()
            ours.receive_ready()


def test_a_report_that_is_too_large_is_refused_where_it_is_made(ends: tuple[Channel, Channel]) -> None:
    with pytest.raises(QueueError, match="larger than"):
        ends[0].send({"report": "x" * REPORT_LIMIT})
