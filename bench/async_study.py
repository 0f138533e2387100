#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The study of asynchronous SGD under the virtual clock, next to the published numbers.

  bench/async_study.py [--only GROUP,...] [--seeds N] [--jobs N] [--out FOLDER] [--quick]

Runs `convoy simulate experiment=fashion_async` with the settings of async_cases.py and prints
a table for each group: test accuracy, virtual time, staleness, and where it is asked for
training accuracy over the last epoch. Rows that several seeds have to bear out are run with three, the others with one;
--seeds N runs all with N. Every run leaves its folder in --out, and is not run again; --report
runs nothing and prints what is there. With --pictures FOLDER the figures of
docs/asynchrony.md are drawn as well.
"""

import argparse
import concurrent.futures
import dataclasses
import datetime
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import async_pictures
from async_cases import EXPERIMENT, GROUPS
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
    wall_seconds: float
    computing_seconds: float
    by_epoch: tuple  # test accuracy after each


def settings_of(case, seed, options):
    """In an order of their own and without what the experiment has anyway, so that a run
    which several groups need has one name."""
    settings = {**dict(case.settings), "train.seed": seed}
    if options.quick:
        settings["train.epochs"] = 1
    return {name: settings[name] for name in sorted(settings)
            if settings[name] != EXPERIMENT.get(name)}


def name_of(case, settings):
    return ",".join([f"n={case.workers}", *(f"{name}={value}" for name, value in settings.items())])


def command_of(case, settings, options):
    given = [f"{name}={value}" for name, value in settings.items()]
    return [options.convoy, "simulate", "--quiet", "experiment=fashion_async", "-n",
            str(case.workers), *given, "run.tensorboard=false", "run.resources=false",
            "checkpoint.every_epochs=0", "cluster.threads=1", f"run.dir={options.out}",
            f"run.name={name_of(case, settings)}"]


def finished(folder):
    """Of a run that came to an end, its own or a divergence: summary, wall time, accuracies."""
    try:
        summary = json.loads((folder / "summary.json").read_text())
        wall = float((folder / "wall_seconds").read_text())
    except (FileNotFoundError, ValueError):
        return None
    return (summary, wall, by_epoch(folder)) if summary["exit"]["code"] in (0, DIVERGED) else None


def by_epoch(folder):
    records = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    return tuple(record["accuracy"] for record in records if record["kind"] == "eval")


def run(case, seed, options):
    settings = settings_of(case, seed, options)
    folder = options.out / name_of(case, settings)
    if finished(folder) is None:
        shutil.rmtree(folder, ignore_errors=True)
        began = time.monotonic()
        ran = subprocess.run(command_of(case, settings, options), cwd=ROOT,
                             capture_output=True, text=True)
        if ran.returncode not in (0, DIVERGED):
            raise RuntimeError(f"{folder.name}: exit {ran.returncode}\n{ran.stderr}")
        (folder / "wall_seconds").write_text(f"{time.monotonic() - began:.3f}\n")
    return result_of(*finished(folder))


def result_of(summary, wall, accuracies):
    diverged = summary["exit"]["code"] == DIVERGED
    return Result(None if diverged else summary["test"]["accuracy"],
                  None if diverged else summary["train"]["accuracy"],
                  summary["virtual_seconds"], summary.get("staleness"), wall,
                  summary.get("computing_seconds"), accuracies)


def seeds_of(case, options):
    if options.quick:
        return [1]
    count = options.seeds or (SEEDS if case.repeated else 1)
    return list(range(1, count + 1))


def run_all(cases, options):
    """Results by case, in the order of seeds. First seeds come first, so that a study that is
    broken off has a number for most rows."""
    jobs = [(seed, case) for case in cases for seed in seeds_of(case, options)]
    jobs.sort(key=lambda job: job[0])
    runs, found = {}, {case: [] for case in cases}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for seed, case in jobs:
            name = name_of(case, settings_of(case, seed, options))
            if name not in runs:
                runs[name] = pool.submit(run, case, seed, options)
            found[case].append(runs[name])
        for done, future in enumerate(runs.values(), 1):
            future.result()
            print(f"\r{done}/{len(runs)} runs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {case: [future.result() for future in futures] for case, futures in found.items()}


def found_already(cases, options):
    """As run_all, of the runs that are there; cases without any are left out."""
    found = {}
    for case in cases:
        names = [name_of(case, settings_of(case, seed, options)) for seed in range(1, 100)]
        there = [finished(options.out / name) for name in names]
        found[case] = [result_of(*each) for each in there if each]
    return {case: results for case, results in found.items() if results}


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
    if group == "thousand":
        for case, found in rows:
            yield (f"\nWall time {found[0].wall_seconds:.1f} s, of which gradients "
                   f"{found[0].computing_seconds:.1f} s: "
                   f"{found[0].wall_seconds / found[0].computing_seconds:.2f} times.")


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
    parser.add_argument("--report", action="store_true", help="run nothing: what is there")
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
    options.out.mkdir(parents=True, exist_ok=True)
    groups = options.only.split(",") if options.only else list(GROUPS)
    cases = [case for group in groups for case in GROUPS[group][1]()
             if case.quick or not options.quick]
    try:
        results = (found_already if options.report else run_all)(cases, options)
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
