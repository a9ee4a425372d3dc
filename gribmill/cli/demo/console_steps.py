"""The end of the demo: something to look at in the console, and the console itself."""

from __future__ import annotations

from collections.abc import Callable

from gribmill.cli.demo.stage import Stage
from gribmill.cli.serve import server_settings
from gribmill.queue.store.jobs.listing import JobFilter
from gribmill.server.listening import ServeError

GROUP = "nightly-checks"
GROUPED = 8


def work_to_look_at(stage: Stage) -> None:
    """A group of jobs, one that fails, and a schedule, to look at in the console"""
    line = '{"type": "sleep", "args": {"seconds": 0.2, "say": "check %d"}}\n'
    pipe = f"seq {GROUPED} | sed 's/.*/{line.strip() % 0}/; s/check 0/check &/'"
    stage.gribmill("groups", "add", GROUP, stdin="".join(line % n for n in range(1, GROUPED + 1)), pipe=pipe)
    failing = stage.enqueue("failing", '{"fail": "always"}', "--max-attempts", "1")
    stage.gribmill("triggers", "add", "good morning", "sleep", '{"say": "good morning"}', "--cron", "30 6 * * 1-5")
    dead = JobFilter(dead=True)
    stage.wait_until("the failing job is a dead letter", lambda: stage.store.jobs.list(dead).jobs)
    group = stage.store.groups.find(GROUP)
    stage.wait_until("the group has ended", lambda: stage.store.groups.progress(group.id).percent == 100)
    stage.check(stage.store.jobs.get(failing).dead_lettered_at is not None, "the console has something to warn of")


CONSOLE_STEPS: list[Callable[[Stage], None]] = [work_to_look_at]


def open_console(stage: Stage) -> None:
    """Serve the console of this demo on loopback until Ctrl-C."""
    stage.title("The console")
    try:
        from gribmill.console.extension import CONSOLE
        from gribmill.server.serving import serve
    except ModuleNotFoundError as error:
        stage.say(f"The console needs {error.name}: pip install 'gribmill[server]'. The demo ends here.")
        return

    def ready(url: str) -> None:
        stage.say(f"Open {url} in a browser on this machine. Ctrl-C ends the demo.")

    try:
        serve(stage.settings, dev=True, extensions=[CONSOLE], ready=ready)
    except ServeError:  # the usual port is taken
        serve(server_settings(stage.settings, port=0), dev=True, extensions=[CONSOLE], ready=ready)
    stage.say("The console is closed.")
