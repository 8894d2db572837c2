# SPDX-License-Identifier: BSD-3-Clause
"""The papers' figures in their axes: ours with one standard deviation to each side, the paper's numbers as crosses beside them."""
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "surety"  # the same bytes every time

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from . import table  # noqa: E402
from .lab import TIME_SERIES_SEED  # noqa: E402
from .rows import Series  # noqa: E402

COLUMNS, WIDTH, HEIGHT = 2, 6.4, 3.6  # inches a figure


def draw(directory, told, lab, quick):
    """An SVG for each experiment that has figures, and summary.md with the rows and all of them."""
    directory.mkdir(parents=True, exist_ok=True)
    page = table.markdown([(paper, result) for paper, results in told for result in results])
    for _, results in told:
        experiment = results[0].experiment
        if experiment.figures:
            draw_experiment(directory / f"{experiment.name}.svg", experiment, results, lab, quick)
            page += f"\n![{experiment.title}]({experiment.name}.svg)\n"
    (directory / "summary.md").write_text(page)


def draw_experiment(path, experiment, results, lab, quick):
    rows = -(-len(experiment.figures) // COLUMNS)
    sheet, axes = plt.subplots(rows, COLUMNS, figsize=(COLUMNS * WIDTH, rows * HEIGHT), squeeze=False)
    by_row = {id(result.row): result for result in results}
    for figure, axis in zip(experiment.figures, axes.flat):
        if isinstance(figure, Series):
            draw_series(axis, figure, lambda case: lab.result(experiment.shortened(case, quick), TIME_SERIES_SEED))
        else:
            draw_sweep(axis, figure, by_row)
        axis.set(title=figure.title, xlabel=figure.x, ylabel=figure.y)
        for name, level in figure.levels.items():
            axis.axhline(level, color="grey", linewidth=0.8, linestyle=":")
            axis.annotate(name, (1, level), xycoords=("axes fraction", "data"), fontsize="x-small", ha="right", va="bottom", color="grey")
        low, high = axis.get_ylim()
        axis.set_ylim(min(0, low), high + 0.05 * (high - min(0, low)))
        axis.legend(fontsize="x-small")
    for axis in axes.flat[len(experiment.figures):]:
        axis.set_axis_off()
    sheet.suptitle(experiment.title)
    sheet.tight_layout()
    sheet.savefig(path, metadata={"Date": None})
    plt.close(sheet)


def draw_series(axis, figure, run_of):
    for name, (case, value) in figure.lines.items():
        if run := run_of(case):
            axis.plot(*map(np.asarray, value(run)), linewidth=0.9, label=name)


def draw_sweep(axis, figure, by_row):
    for name, rows in figure.lines.items():
        x, found = [row.at[1] for row in rows], [by_row[id(row)] for row in rows]
        ours = axis.errorbar(x, [result.mean for result in found], yerr=np.nan_to_num([result.sd for result in found]), marker="o",
                             markersize=3, linewidth=1, capsize=2, label=name)
        printed = [row.paper if isinstance(row.paper, (int, float)) else np.nan for row in rows]
        if not np.isnan(printed).all():
            axis.plot(x, printed, "x", color=ours[0].get_color(), label=f"{name}, paper")
    for name, values in figure.guides.items():
        axis.plot([row.at[1] for row in next(iter(figure.lines.values()))], values, "--", color="grey", linewidth=0.8, label=name)
