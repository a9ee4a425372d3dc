"""Problems with models, mirrors, tiles and disk, each with its remedy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from gribmill.console.weather_look import WeatherLook
from gribmill.console.wording import counted, size
from gribmill.pipeline.status.health import Problem


@dataclass(frozen=True, slots=True)
class Trouble:
    """One problem. Its button posts `fields` to `post`; `href` links to details.

    `key` identifies the cause: it stays the same while the cause lasts.
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
    """Problems of the wanted kinds. Without `links`, for visitors who may not open the operators' pages."""
    found = []
    for problem in look.health.problems:
        if wanted(problem.kind):
            found.append(_trouble(problem, look, links=links))
    return found


def _trouble(problem: Problem, look: WeatherLook, *, links: bool) -> Trouble:
    model = problem.model_id or ""
    key, text = f"{problem.kind} {model}".strip(), _sentence(problem)
    runs = f"/runs?model={quote(model)}"
    match problem.kind:
        case "no worker":
            remedy = "Nothing is downloaded or built until one runs."
            return Trouble(key, text, remedy, href="/workers", link="Workers")
        case "disk":
            return _full_disk(key, text, look.removable or (0, 0))
        case "mirror":
            return _sick_mirror(problem, look)
        case "mirrors":
            remedy = "Nothing new arrives until one responds. Check this host's network and the publisher's status."
            href, link = ("/sources", "Sources") if links else (runs, "Its runs")
            return Trouble(key, text, remedy, href=href, link=link)
        case "model":
            return Trouble(key, text, "See which hours are missing and why.", href=runs, link="Its runs")
        case "tiles":
            remedy = "The next scan downloads and builds them again."
            return Trouble(key, text, remedy, href=runs, link="Its runs")
        case "no models":
            remedy = "List models and regions under [chain] in gribmill.toml."
            return Trouble(key, text, remedy, serious=False)
        case "clock":
            return Trouble(
                key, text, "Synchronize the workers' hosts with NTP.", serious=False, href="/workers", link="Workers"
            )
        case _:
            return Trouble(key, text, "", serious=problem.serious)


def _full_disk(key: str, text: str, removable: tuple[int, int]) -> Trouble:
    """A full disk; with a button only if a prune would free space."""
    count, total = removable
    if not count:
        remedy = "No run is old enough to be removed. Add disk space, or keep fewer runs ([retention])."
        return Trouble(key, text, remedy, href="/storage", link="Storage")
    return Trouble(
        key,
        text,
        f"Removing {counted(count, 'old run')} frees {size(total)}. Otherwise, add disk space.",
        href="/storage",
        link="Which runs",
        post="/storage/prune",
        button="Remove old runs",
    )


def _sick_mirror(problem: Problem, look: WeatherLook) -> Trouble:
    """A failing mirror: only a note, because the model has other mirrors."""
    failing = {one.name for status in look.statuses for one in status.mirrors if one.fails}
    name = next((one for one in failing if problem.text.startswith(f"mirror {one}:")), None)
    remedy = "Other mirrors are used instead. Use it again once the publisher has fixed it."
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
    """The problem as a sentence: capitalized, unless it begins with a model's name."""
    text = problem.text.replace("`", "")
    if problem.model_id and text.startswith(problem.model_id):
        return text
    return f"{text[:1].upper()}{text[1:]}"
