# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/asynchrony.md, from the results of async_study.py."""

import re
import statistics

from panel_chart import COLOURS, Panel, Series, draw as draw_panels

MOST_STALENESS = 32  # of a histogram; what is above counts there


def published(case):
    """The mean of a published range; nothing was 10 %."""
    numbers = [10.0 if text == "NC" else float(text)
               for text in re.findall(r"NC|\d+\.?\d*", case.published)]
    return statistics.fmean(numbers) if numbers else None


def measured(results):
    """Diverged counts as chance."""
    shares = [10.0 if r.accuracy is None else 100 * r.accuracy for r in results]
    deviation = statistics.stdev(shares) if len(shares) > 1 else 0
    return statistics.fmean(shares), deviation


def line(name, found, colour, dashed=False):
    """`found`: (place, case, results) of the points; dashed: those published."""
    points = [(place, published(case), 0) if dashed else (place, *measured(results))
              for place, case, results in found]
    points = [point for point in points if point[1] is not None]
    return Series(name, points, colour, dashed)


def by_workers(results):
    places = {1: 0, 2: 1, 5: 2, 10: 3}
    panel = Panel("No delay", "workers", list(map(str, places)), y_label="test accuracy %")
    for colour, partition in zip(COLOURS, ("iid", "labels")):
        found = [(places[case.workers], case, r) for case, r in results.items()
                 if case.group == "workers" and case.label in (partition, "alone")]
        panel.lines.append(line(partition, found, colour))
        panel.lines.append(line(f"{partition}, published", found, colour, dashed=True))
    return [panel]


def by_delay(results):
    places = {"30": 0, "60": 1, "90": 2}
    panels = []
    for group, title in (("delay", "The same delay for all"),
                         ("slow_worker", "Worker 0 twice as long")):
        panel = Panel(title, "delay, ms", list(places), y_label="test accuracy %")
        for colour, workers in zip(COLOURS, (2, 5, 10)):
            for partition in ("iid", "labels"):
                found = [(places[case.label.split()[1]], case, r)
                         for case, r in results.items() if case.group == group
                         and case.workers == workers and case.label.startswith(partition)]
                series = line(f"{workers} workers, {partition}", found, colour)
                series.dashed = partition == "labels"
                panel.lines.append(series)
        panels.append(panel)
    return panels


def by_momentum(results):
    places = {"0": 0, "0.5": 1, "0.9": 2, "0.99": 3}
    panels = []
    for group, title in (("momentum", "Learning rate 0.005"),
                         ("same_pace", "Rate / (1 - momentum) = 0.05")):
        panel = Panel(title, "momentum", list(places), y_label="test accuracy %")
        for workers in sorted({case.workers for case in results if case.group == group}):
            colour = COLOURS[(1, 2, 5, 10).index(workers)]
            found = [(places[re.search(r"momentum ([\d.]+)", case.label)[1]], case, r)
                     for case, r in results.items()
                     if case.group == group and case.workers == workers]
            if len(found) > 1:
                panel.lines.append(line(f"{workers} worker{'s' * (workers > 1)}", found, colour))
        panels.append(panel)
    return panels


def by_epoch(results):
    """A slow worker, with and without a bound."""
    panels = []
    for workers in (2, 10):
        panel = Panel(f"labels, worker 0 slower, {workers} workers", "epochs' worth of updates",
                      list("123456"), y_label="test accuracy %")
        wanted = (("slow_worker", "labels, 30 ms", "no bound"),
                  ("bound", "labels, worker 0 slower, bound 4", "bound 4"),
                  ("bound", "labels, worker 0 slower, bound 0", "bound 0"))
        for colour, (group, label, name) in zip(COLOURS, wanted):
            for case, found in results.items():
                if (case.group, case.label, case.workers) == (group, label, workers):
                    points = [(place, 100 * share, 0)
                              for place, share in enumerate(found[0].by_epoch)]
                    panel.lines.append(Series(name, points, colour))
        panels.append(panel)
    return panels


def by_staleness(results):
    """Accuracy against the mean staleness, which more and more workers make."""
    counts = sorted({case.workers for case in results if case.group == "many"})
    ticks = [str(workers - 1) for workers in counts]
    panel = Panel("iid, no delay", "mean staleness (workers - 1)", ticks,
                  y_label="test accuracy %")
    labels = dict.fromkeys(case.label for case in results if case.group == "many")
    for colour, label in zip(COLOURS, labels):
        found = [(counts.index(case.workers), case, r) for case, r in results.items()
                 if case.group == "many" and case.label == label]
        panel.lines.append(line(label, found, colour))
    return [panel]


def histogram(title, staleness):
    shares = [0.0] * (MOST_STALENESS + 1)
    for each in staleness["histogram"]:
        shares[min(each["from"], MOST_STALENESS)] += 100 * each["updates"] / staleness["updates"]
    ticks = [str(n) for n in range(MOST_STALENESS)] + [f"{MOST_STALENESS}+"]
    return Panel(title, "staleness", ticks, bars=list(enumerate(shares)),
                 y_label="% of updates", top=60, y_step=20)


def histograms(results):
    wanted = (("workers", "iid", "no delay"), ("momentum", "momentum 0.9", "gaussian, 30 ms"),
              ("stragglers", "iid, pareto 30 ms", "pareto, 30 ms"),
              ("stragglers", "iid, on_off 90 ms", "spells of 90 ms"))
    return [histogram(title, r[0].staleness) for group, label, title in wanted
            for case, r in results.items()
            if (case.group, case.label, case.workers) == (group, label, 10)]


PICTURES = {
    "async_workers": ({"workers"}, by_workers),
    "async_delay": ({"delay", "slow_worker"}, by_delay),
    "async_slow_worker": ({"slow_worker", "bound"}, by_epoch),
    "async_momentum": ({"momentum", "same_pace"}, by_momentum),
    "async_staleness": ({"many"}, by_staleness),
    "async_histograms": ({"workers", "momentum", "stragglers"}, histograms),
}


def draw(results, folder):
    """Those whose groups were run."""
    folder.mkdir(parents=True, exist_ok=True)
    groups = {case.group for case in results}
    for name, (needed, panels) in PICTURES.items():
        if needed <= groups:
            draw_panels(panels(results), folder / f"{name}.svg")
