#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The study of asynchronous SGD under the virtual clock, next to the published numbers.

  bench/async_study.py [--only GROUP,...] [--seeds N] [--jobs N] [--out FOLDER] [--quick]

Runs `convoy sweep --simulate experiment=fashion_async` with the settings of async_cases.py and
prints a table for each group: test accuracy, virtual time, staleness, and where it is asked
for training accuracy over the last epoch. Groups that several seeds have to bear out are run
with three, the others with one; --seeds N runs all with N. The runs of a group are put
together into as few sweeps as they fill; a sweep that was interrupted resumes with the same
command. With --pictures FOLDER the figures of docs/asynchrony.md are drawn as well.
"""

import argparse
import dataclasses
import datetime
import json
import math
import pathlib
import statistics
import subprocess
import sys

import async_pictures
from async_cases import EXPERIMENT, GROUPS, REPEATED
from compare_step import CONVOY, ROOT, processor

SEEDS = 3
DIVERGED = 79
COLLAPSED = 0.11  # of ten classes: says the same of nearly all
WITH_TRAINING = ("momentum", "same_pace")  # groups that ask whether it regularises


@dataclasses.dataclass(frozen=True)
class Result:
    accuracy: float  # a share, or nothing if the run diverged
    training: float
    seconds: float  # virtual
    staleness: dict
    by_epoch: tuple  # test accuracy after each


def settings_of(case, seed, options):
    """With what the experiment has, so that rows of a group are told apart by the same names."""
    settings = {**EXPERIMENT, **dict(case.settings), "cluster.nproc_per_node": case.workers,
                "train.seed": seed}
    if options.quick:
        settings["train.epochs"] = 1
    return {name: str(value) for name, value in settings.items()}


def key_of(settings):
    return frozenset(settings.items())


def values_of(name, rows):
    return list(dict.fromkeys(row.get(name) for row in rows))


def grids_of(rows):
    """Divides settings of runs into grids: lists of values by name, all of whose combinations
    are among the rows."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    grid = {name: values_of(name, rows) for name in names}
    filled = len(rows) == math.prod(len(values) for values in grid.values())
    if filled and not any(None in values for values in grid.values()):
        return [grid]
    ways = [[found for value in grid[name]
             for found in grids_of([row for row in rows if row.get(name) == value])]
            for name in names if len(grid[name]) > 1]
    return min(ways, key=len)


def sweep(grid, options):
    """The rows of one sweep, by their settings. A choice is a dimension even if it is of one."""
    given = [f"{name}=choice({','.join(values)})" for name, values in grid.items()]
    ran = subprocess.run([options.convoy, "sweep", "--simulate", "--json",
                          "experiment=fashion_async", *given, "run.tensorboard=false",
                          "run.resources=false", "checkpoint.every_epochs=0",
                          f"run.dir={options.out}", f"sweep.jobs={options.jobs}"],
                         cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if ran.returncode not in (0, DIVERGED):
        raise RuntimeError(f"convoy sweep {' '.join(given)}: exit {ran.returncode}")
    return {key_of(row["values"]): result_of(pathlib.Path(row["folder"]))
            for row in json.loads(ran.stdout)["rows"]}


def by_epoch(folder):
    records = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    return tuple(record["accuracy"] for record in records if record["kind"] == "eval")


def result_of(folder):
    summary = json.loads((folder / "summary.json").read_text())
    diverged = summary["exit"]["code"] == DIVERGED
    return Result(None if diverged else summary["test"]["accuracy"],
                  None if diverged else summary["train"]["accuracy"],
                  summary["virtual_seconds"], summary.get("staleness"), by_epoch(folder))


def seeds_of(group, options):
    if options.quick:
        return [1]
    count = options.seeds or (SEEDS if group in REPEATED else 1)
    return list(range(1, count + 1))


def run_group(group, cases, options):
    """Results by case, in the order of seeds."""
    wanted = {case: [settings_of(case, seed, options) for seed in seeds_of(group, options)]
              for case in cases}
    found = {}
    for grid in grids_of([settings for each in wanted.values() for settings in each]):
        found |= sweep(grid, options)
    return {case: [found[key_of(settings)] for settings in each]
            for case, each in wanted.items()}


def run_all(groups, options):
    results = {}
    for group in groups:
        cases = [case for case in GROUPS[group][1]() if case.quick or not options.quick]
        results |= run_group(group, cases, options) if cases else {}
    return results


def percent(shares):
    if not shares:
        return ""
    mean = 100 * statistics.fmean(shares)
    if len(shares) == 1:
        return f"{mean:.2f}"
    return f"{mean:.2f} ± {100 * statistics.stdev(shares):.2f}"


def accuracy(results):
    """Diverged and collapsed runs are counted, and are no part of a mean."""
    lost = sum(r.accuracy is None for r in results)
    fallen = sum(r.accuracy is not None and r.accuracy <= COLLAPSED for r in results)
    parts = [percent([r.accuracy for r in results if r.accuracy and r.accuracy > COLLAPSED])]
    count = len(results)
    parts += [f"collapsed ({fallen} of {count})" if count > 1 else "collapsed"] * bool(fallen)
    parts += [f"diverged ({lost} of {count})" if count > 1 else "diverged"] * bool(lost)
    return ", ".join(part for part in parts if part)


def clock(results):
    mean = statistics.fmean(r.seconds for r in results)
    seconds = round(mean)
    return f"{seconds // 60}:{seconds % 60:02}" if mean >= 10 else f"{mean:.2f} s"


def staleness(results):
    if results[0].staleness is None:
        return "0 / 0"
    mean = statistics.fmean(r.staleness["mean"] for r in results)
    return f"{mean:.2f} / {max(r.staleness['max'] for r in results)}"


def training(results):
    return percent([r.training for r in results
                    if r.accuracy is not None and r.accuracy > COLLAPSED])


def columns(group):
    """Heads, and what is below them."""
    yield "case", lambda case, results: case.label
    yield "workers", lambda case, results: str(case.workers)
    yield "seeds", lambda case, results: str(len(results))
    yield "test accuracy %", lambda case, results: accuracy(results)
    yield "published %", lambda case, results: case.published
    if group in WITH_TRAINING:
        yield "training %", lambda case, results: training(results)
    yield "virtual time", lambda case, results: clock(results)
    yield "published time", lambda case, results: case.published_time
    yield "staleness mean / max", lambda case, results: staleness(results)


def table(group, results):
    rows = [(case, found) for case, found in results.items() if case.group == group]
    if not rows:
        return
    heads, cells = zip(*columns(group))
    yield f"\n## {GROUPS[group][0]} (`{group}`)\n"
    yield f"| {' | '.join(heads)} |"
    yield f"| --- |{' ---: |' * (len(heads) - 1)}"
    for case, found in rows:
        yield f"| {' | '.join(cell(case, found) for cell in cells)} |"


def report(groups, results, options):
    yield "# Asynchronous SGD under the virtual clock"
    yield (f"\n{datetime.date.today()}, {processor()}, by `bench/async_study.py`"
           f"{' --quick' if options.quick else ''}. Fashion-MNIST, LeNet-5, "
           "learning rate 0.005, momentum 0.9, batch 32, "
           f"{1 if options.quick else 6} epochs unless said. Accuracy is of the test set, "
           "after the last update: mean ± deviation over seeds; training: over the pushes of "
           "the last epoch. Published numbers are of the EPFL project's PyTorch runs, one run "
           "each; its times beyond two workers are contention on one machine. Collapsed: "
           "10 %, all one class. Diverged: the loss was not finite (exit 79).")
    for group in groups:
        yield from table(group, results)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help=f"groups: {', '.join(GROUPS)}")
    parser.add_argument("--seeds", type=int, default=0, help="seeds of every row")
    parser.add_argument("--jobs", type=int, default=2, help="runs at once, of a thread each")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "runs" / "async_study")
    parser.add_argument("--quick", action="store_true", help="few rows, one epoch")
    parser.add_argument("--output", type=pathlib.Path, help="file for the tables")
    parser.add_argument("--pictures", type=pathlib.Path, help="folder for the figures")
    parser.add_argument("--convoy", type=pathlib.Path, default=CONVOY)
    options = parser.parse_args()
    unknown = set(filter(None, options.only.split(","))) - set(GROUPS)
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
    return options


def main():
    options = arguments()
    options.out, options.convoy = options.out.resolve(), options.convoy.resolve()
    groups = options.only.split(",") if options.only else list(GROUPS)
    try:
        results = run_all(groups, options)
    except RuntimeError as error:
        sys.exit(f"a run failed: {error}")
    text = "\n".join(report(groups, results, options))
    print(text)
    if options.output:
        options.output.write_text(text + "\n")
    if options.pictures:
        async_pictures.draw(results, options.pictures)


if __name__ == "__main__":
    main()
