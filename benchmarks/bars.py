"""Bars for a page: one small chart per group, the shortest at the top, gribmill's in a colour of their own."""

from __future__ import annotations

from math import ceil
from pathlib import Path

OWN, OTHERS = "tab:orange", "tab:blue"


def draw_bars(
    groups: dict[str, dict[str, float]], label: str, path: Path, columns: int = 3, *, log: bool = False
) -> None:
    """`groups`: title to {name: value}. Bars carry their value; they start at 0 unless `log`."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    rows = ceil(len(groups) / columns)
    longest = max(map(len, groups.values()))
    size = (5.2 * columns, (0.27 * longest + 0.9) * rows)
    figure, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for axis in axes.flat[len(groups) :]:
        axis.remove()
    for axis, (title, values) in zip(axes.flat, groups.items(), strict=False):
        order = sorted(values, key=lambda name: -values[name])
        bars = axis.barh(order, [values[name] for name in order])
        for name, bar in zip(order, bars, strict=True):
            bar.set_color(OWN if "gribmill" in name else OTHERS)
        axis.bar_label(bars, [_short(values[name]) for name in order], padding=3, fontsize=8)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel(label, fontsize=8)
        axis.tick_params(labelsize=8)
        if log:
            axis.set_xscale("log")
            axis.set_xlim(min(values.values()) / 3, max(values.values()) * 4)
        else:
            axis.margins(x=0.15)
        axis.margins(y=0.02)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=90)
    pyplot.close(figure)


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"
