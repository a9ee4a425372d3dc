"""Handlers of the sample types; they misbehave on request."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from gribmill.queue.model import Effect, Failed, NewJob, Outcome, Snoozed, Succeeded
from gribmill.queue.worker.task import Batch, Task
from tests.queue.sample_effects import pause
from tests.queue.worker.sample_types import GroupArgs, StuntArgs
from tests.waiting import wait_until

_eaten: list[bytes] = []
FOREVER = 3600.0


class Odd(BaseException):
    """Derives from `BaseException`, so `except Exception` does not catch it."""


def run(task: Task) -> object:
    args = task.args_as(StuntArgs)
    return STUNTS[args.do](task, args)


def run_group(batch: Batch) -> None:
    """Run each task in order, as its arguments request."""
    for task in list(batch.tasks):
        args = task.args_as(GroupArgs)
        if args.do == "fail":
            batch.fail(task, "this one is bad")
        elif args.do == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        elif args.do == "silent":
            return
        elif args.do == "mark":
            _mark(task, args.path)
            batch.done(task)
        elif args.do == "hold":
            _hold(args.path)
            batch.done(task)
        elif args.do == "top_up":
            _hold(args.path)
            more = batch.top_up(1000)
            batch.done(task, Succeeded(artifacts=(f"{len(more)} more",)))
            for sibling in more:
                batch.done(sibling, Succeeded(artifacts=("topped up",)))
        else:
            sys.stdout.write(f"made {args.n}\n")
            batch.done(task)


def _hold(path: str) -> None:
    """Create `<path>.<pid>` to show that it runs, then wait for the file `<path>`."""
    Path(f"{path}.{os.getpid()}").touch()
    wait_until(Path(path).exists, FOREVER, path)


def hold(task: Task, args: StuntArgs) -> None:
    _hold(args.path)


def hold_attempt(task: Task, args: StuntArgs) -> None:
    """Each attempt waits for a different file."""
    _hold(f"{args.path}-{task.attempt_no}")


def note(task: Task, args: StuntArgs) -> None:
    with Path(args.path).open("a") as file:
        file.write(f"{os.getpid()}\n")


def mark(task: Task, args: StuntArgs) -> None:
    _mark(task, args.path)


def _mark(task: Task, path: str) -> None:
    """Record that this attempt runs, in one atomic write."""
    line = f"{task.job_id} {task.attempt_no}\n"
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, line.encode())
    os.close(fd)


def speak(task: Task, args: StuntArgs) -> None:
    sys.stdout.write(args.text)
    sys.stderr.write(args.text)


def say_and_hold(task: Task, args: StuntArgs) -> None:
    sys.stdout.write(args.text)
    _hold(args.path)


def say_and_die(task: Task, args: StuntArgs) -> None:
    """Die with an unfinished line in the buffer."""
    os.write(1, args.text.encode())
    os.kill(os.getpid(), signal.SIGKILL)


def log_and_print(task: Task, args: StuntArgs) -> None:
    sys.stdout.write(f"printed {args.text}\n")
    logging.getLogger("gribmill.sample").warning("logged %s", args.text)


def shout(task: Task, args: StuntArgs) -> None:
    for n in range(args.count):
        sys.stdout.write(f"{n:>12} {'x' * 1000}\n")
    sys.stdout.write("the end\n")


def babble(task: Task, args: StuntArgs) -> None:
    """Start a child that prints endlessly."""
    subprocess.Popen(["yes"])
    _hold(args.path)


def close_stdout(task: Task, args: StuntArgs) -> None:
    sys.stdout.close()


def close_pipe(task: Task, args: StuntArgs) -> None:
    os.close(1)
    _hold(args.path)


def close_everything(task: Task, args: StuntArgs) -> None:
    os.closerange(3, 65536)  # the channel has a high number if the test process has many files


def scribble(task: Task, args: StuntArgs) -> None:
    """Write invalid bytes into the channel."""
    for link in list(Path("/proc/self/fd").iterdir()):
        with contextlib.suppress(FileNotFoundError):
            if str(link.readlink()).startswith("socket:"):
                os.write(int(link.name), args.text.encode("latin-1"))
    _hold(args.path)


def stubborn(task: Task, args: StuntArgs) -> None:
    """Ignore TERM, and so does the child."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    script = f"trap '' TERM; echo $$ > {args.path}.new; mv {args.path}.new {args.path}; while :; do sleep 1; done"
    subprocess.run(["sh", "-c", script], check=False)


def fork_and_die(task: Task, args: StuntArgs) -> None:
    """The forked child keeps the channel open."""
    if os.fork() == 0:
        Path(args.path).write_text(str(os.getpid()))
        threading.Event().wait(FOREVER)
    wait_until(lambda: Path(args.path).exists() and Path(args.path).read_text())
    os.kill(os.getpid(), signal.SIGKILL)


def fork_and_go_on(task: Task, args: StuntArgs) -> None:
    if os.fork() == 0:
        threading.Event().wait(FOREVER)


def eat(task: Task, args: StuntArgs) -> None:
    _eaten.append(b"x" * (args.count * 1_000_000))
    note(task, args)


def never_exit(task: Task, args: StuntArgs) -> None:
    threading.Thread(target=threading.Event().wait, args=(FOREVER,)).start()
    note(task, args)


def segfault(task: Task, args: StuntArgs) -> None:
    sys.stdout.write("the last words\n")
    ctypes.string_at(0)


def die(task: Task, args: StuntArgs) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def odd(task: Task, args: StuntArgs) -> None:
    raise Odd("out of the ordinary")


def interrupt(task: Task, args: StuntArgs) -> None:
    raise KeyboardInterrupt


def undecodable(task: Task, args: StuntArgs) -> None:
    raise OSError("no such file: grib/\udcff\udcfe")


def leak(task: Task, args: StuntArgs) -> None:
    raise RuntimeError("403 for https://host/x?X-Amz-Signature=deadbeef00&page=1")


def outcome(value: Callable[[StuntArgs], object]) -> Callable[[Task, StuntArgs], object]:
    return lambda task, args: value(args)


def _outcome_type_is_a_lie() -> Outcome:
    return Snoozed("soon")  # type: ignore[arg-type]


STUNTS: dict[str, Callable[[Task, StuntArgs], object]] = {
    "hold": hold,
    "hold_attempt": hold_attempt,
    "note": note,
    "mark": mark,
    "speak": speak,
    "shout": shout,
    "say_and_hold": say_and_hold,
    "say_and_die": say_and_die,
    "log": log_and_print,
    "babble": babble,
    "close_stdout": close_stdout,
    "close_pipe": close_pipe,
    "close_everything": close_everything,
    "scribble": scribble,
    "stubborn": stubborn,
    "fork_and_die": fork_and_die,
    "fork_and_go_on": fork_and_go_on,
    "eat": eat,
    "never_exit": never_exit,
    "segfault": segfault,
    "die": die,
    "odd": odd,
    "interrupt": interrupt,
    "undecodable": undecodable,
    "leak": leak,
    "exit": outcome(lambda args: sys.exit(args.count)),
    "nothing": outcome(lambda args: None),
    "nonsense": outcome(lambda args: 42),
    "empty_error": outcome(lambda args: Failed("")),
    "endless_error": outcome(lambda args: Failed("x" * 3_000_000)),
    "snooze_never": outcome(lambda args: Snoozed(float("nan"))),
    "snooze_words": outcome(lambda args: _outcome_type_is_a_lie()),
    "unsendable": outcome(lambda args: Succeeded(artifacts=(object(),))),  # type: ignore[arg-type]
    "too_large": outcome(lambda args: Succeeded(artifacts=("x" * 17_000_000,))),
    "then_unknown": outcome(lambda args: Succeeded(then=(NewJob("no_such_type"),))),
    "then_bad_arguments": outcome(lambda args: Succeeded(then=(NewJob("sleep", {"seconds": "long"}),))),
    "then_no_job": outcome(lambda args: Succeeded(then=(7,))),  # type: ignore[arg-type]
    "then_unstorable": outcome(lambda args: Succeeded(then=(NewJob("sleep", dedupe_key="\udcff"),))),
    "also_unknown": outcome(lambda args: Succeeded(also=(Effect("no_such_kind", "{}"),))),
    "also_incomplete": outcome(lambda args: Succeeded(also=(Effect("pause", "{}"),))),
    "also_garbled": outcome(lambda args: Succeeded(also=(Effect("pause", "{"),))),
    "also_no_text": outcome(lambda args: Succeeded(also=(Effect("pause", 7),))),  # type: ignore[arg-type]
    "also_too_large": outcome(lambda args: Succeeded(also=(pause(2**70),))),
    "then_and_also": outcome(
        lambda args: Succeeded(then=(NewJob("other_lane", {"do": "nothing"}),), also=(pause("limited"),))
    ),
    "then_and_refused_also": outcome(
        lambda args: Succeeded(
            then=(NewJob("other_lane", {"do": "nothing"}),),
            also=(pause("limited"), Effect("nope", "{}")),
        )
    ),
}
