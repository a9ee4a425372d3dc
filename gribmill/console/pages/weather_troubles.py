"""What is wrong with models, mirrors, tiles and disk, with the remedy of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from gribmill.console.weather_look import WeatherLook
from gribmill.pipeline.status.health import Problem


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong. `post` is where its button sends a form with `fields`; `href` leads to more.

    `key` is the same as long as the cause is.
    """

    key: str
    cause: str
    remedy: str
    serious: bool = True
    href: str = ""
    link: str = ""
    post: str = ""
    button: str = ""
    fields: tuple[tuple[str, str], ...] = ()


def troubles_of_weather(look: WeatherLook, wanted: Callable[[str], bool], *, links: bool = True) -> list[Trouble]:
    """Those of the kinds that are wanted. Without `links`, for visitors who may not open the pages of the machine."""
    found = []
    for problem in look.health.problems:
        if wanted(problem.kind):
            found.append(_trouble(problem, look, links=links))
    return found


def _trouble(problem: Problem, look: WeatherLook, *, links: bool) -> Trouble:
    key, text, model = f"{problem.kind} {problem.model_id}", _sentence(problem), problem.model_id or ""
    runs = f"/runs?model={quote(model)}"
    match problem.kind:
        case "no worker":
            remedy = "Nothing is fetched or built meanwhile."
            return Trouble(key, text, remedy, href="/workers", link="Workers")
        case "disk":
            return Trouble(
                key,
                text,
                "Remove old runs now, or give the disk more space.",
                href="/storage",
                link="What would be removed",
                post="/storage/prune",
                button="Remove old runs",
            )
        case "mirror":
            return _sick_mirror(problem, look)
        case "mirrors":
            remedy = "Nothing new arrives until one answers. Check this host's network and the publisher's status."
            href, link = ("/sources", "Sources") if links else (runs, "Its runs")
            return Trouble(key, text, remedy, href=href, link=link)
        case "model":
            return Trouble(key, text, "See which hours are missing, and why.", href=runs, link="Its runs")
        case "tiles":
            remedy = "The next scan downloads and builds them again."
            return Trouble(key, text, remedy, href=runs, link="Its runs")
        case "no models":
            remedy = "Name models and regions in [chain] of gribmill.toml."
            return Trouble(key, text, remedy, serious=False)
        case "clock":
            return Trouble(key, text, "Run NTP on the workers' hosts.", serious=False, href="/workers", link="Workers")
        case _:
            return Trouble(key, text, "", serious=problem.serious)


def _sick_mirror(problem: Problem, look: WeatherLook) -> Trouble:
    """A note: the model has other mirrors."""
    failing = {one.name for status in look.statuses for one in status.mirrors if one.fails}
    name = next((one for one in failing if problem.text.startswith(f"mirror {one}:")), None)
    remedy = "Files are taken from other mirrors. Use it again as soon as the publisher has repaired it."
    return Trouble(
        f"mirror {name}",
        _sentence(problem),
        remedy,
        serious=problem.serious,
        href="/sources",
        link="Sources",
        post=f"/sources/{quote(name, safe='')}/clear" if name else "",
        button="Use again now" if name else "",
    )


def _sentence(problem: Problem) -> str:
    """With a capital, unless it begins with the name of a model."""
    text = problem.text.replace("`", "")
    if problem.model_id and text.startswith(problem.model_id):
        return text
    return f"{text[:1].upper()}{text[1:]}"
