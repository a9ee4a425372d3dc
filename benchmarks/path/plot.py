"""path.png: growth with regions and with variables, each with a fitted line, and the stages of a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def draw(figures: dict[str, Any], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(15, 4.5), layout="constrained", width_ratios=(1, 1, 1.3))
    panels = (("regions", "One more region: 12 HRRR messages"), ("variables", "One more variable: 8 regions"))
    for axis, (what, title) in zip(axes, panels, strict=False):
        _growth(axis, {int(count): spent for count, spent in figures["growth"][what].items()}, what, title)
    _shares(axes[2], figures["job"])
    figure.savefig(path, dpi=90)
    pyplot.close(figure)


def line(points: dict[int, float]) -> tuple[float, float]:
    """Intercept and slope of the line of best fit."""
    mean_x, mean_y = sum(points) / len(points), sum(points.values()) / len(points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points.items()) / sum((x - mean_x) ** 2 for x in points)
    return mean_y - slope * mean_x, slope


def straightness(points: dict[int, float]) -> float:
    """The coefficient of determination (r²) of that line."""
    start, slope = line(points)
    mean = sum(points.values()) / len(points)
    left = sum((y - start - slope * x) ** 2 for x, y in points.items())
    return 1.0 - left / sum((y - mean) ** 2 for y in points.values())


def _growth(axis: Any, points: dict[int, float], what: str, title: str) -> None:
    start, slope = line(points)
    ends = [0, max(points)]
    fit = f"{1000 * start:.1f} ms + {1000 * slope:.2f} ms × {what}"
    axis.plot(ends, [1000 * (start + slope * x) for x in ends], "--", color="gray", label=fit)
    axis.plot(list(points), [1000 * spent for spent in points.values()], "o", color="tab:orange", label="measured")
    axis.set(xlabel=f"number of {what}", ylabel="CPU of one build, ms", xlim=(0, None), ylim=(0, None))
    axis.set_title(title, fontsize=10)
    axis.legend(loc="upper left", fontsize=9)
    axis.grid(alpha=0.3)


def _shares(axis: Any, job: dict[str, Any]) -> None:
    """One bar per model and clock, with the stages in the order of the work."""
    from matplotlib import colormaps

    bars = [(f"{model['title']}\n{clock}, {1000 * model[clock]['seconds']:.0f} ms", model[clock])
            for model in job.values() for clock in ("cpu", "wall")]  # fmt: skip
    order = sorted({stage for _, one in bars for stage in one["stages"]}, key=lambda stage: -_largest(bars, stage))
    colours = colormaps["tab20"]
    left = [0.0] * len(bars)
    for number, stage in enumerate(order):
        widths = [100 * one["stages"].get(stage, 0.0) / one["seconds"] for _, one in bars]
        axis.barh([name for name, _ in bars], widths, left=left, color=colours(number % 20), label=stage)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axis.set(xlabel="share, %", xlim=(0, 100))
    axis.set_title("A job of eight regions, claim to complete", fontsize=10)
    axis.invert_yaxis()
    axis.tick_params(labelsize=8)
    axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def _largest(bars: list[tuple[str, Any]], stage: str) -> float:
    return max(float(one["stages"].get(stage, 0.0) / one["seconds"]) for _, one in bars)
