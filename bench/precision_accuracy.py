#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Test accuracy of experiments in fp32, amp_o2 and bf16, over several seeds.

  bench/precision_accuracy.py [--jobs 2] [fashion_lenet5:10:3:1 cifar10_cnn2:3:2:1 ...]

A case is an experiment, its number of seeds, its epochs, and the part of the training set. Each is
one `convoy sweep`, whose runs train on cores of their own. The table has means with their standard
errors, and each difference from fp32 in standard errors of the difference: beyond two it is more
than the seeds explain.
"""

import argparse
import datetime
import json
import math
import pathlib
import subprocess
import tempfile

from compare_step import CONVOY, ROOT, given_words, machine_name, processor

CASES = ["fashion_lenet5:10:3:1", "cifar10_cnn2:3:2:1", "cifar10_vit:3:1:0.2"]
PRECISIONS = ("fp32", "amp_o2", "bf16")


def settings_of(case):
    experiment, seeds, epochs, fraction = case.split(":")
    return [f"experiment={experiment}", f"precision={','.join(PRECISIONS)}",
            f"train.seed=range(1,{int(seeds) + 1})", f"train.epochs={epochs}",
            f"data.train_fraction={fraction}"]


def groups_of(case, jobs):
    """By precision: the group of its runs in sweep.json."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([CONVOY, "sweep", *settings_of(case), f"run.dir={folder}", "run.name=a",
                        "run.report=false", "checkpoint.enabled=false", "--jobs", str(jobs)],
                       check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        found = json.loads((pathlib.Path(folder) / "a" / "sweep.json").read_text())
    return {group["values"]["precision"]: group for group in found["groups"]}


def error_of(accuracy):
    return accuracy["deviation"] / math.sqrt(accuracy["count"])


def difference(own, full):
    """Of the means, in points and in standard errors."""
    points = own["mean"] - full["mean"]
    errors = math.hypot(error_of(own), error_of(full))
    count = abs(points) / errors if errors else 0
    return f"{100 * points:+.2f} | {count:.1f} | {'yes' if count <= 2 else 'no'}"


def rows(case, groups):
    experiment, seeds, epochs, fraction = case.split(":")
    full = groups["fp32"]["accuracy"]
    for name in PRECISIONS:
        own, seconds = groups[name]["accuracy"], groups[name]["seconds"]
        yield (f"| {experiment} | {seeds} | {epochs} | {float(fraction):.0%} | {name} "
               f"| {100 * own['mean']:.2f} ± {100 * error_of(own):.2f} "
               f"| {'- | - | -' if name == 'fp32' else difference(own, full)} "
               f"| {seconds['mean']:.0f} |")


def report(tables, options):
    version = subprocess.run([CONVOY, "--version"], capture_output=True, text=True).stdout
    yield "# Accuracy in 16 bits beside fp32\n"
    yield (f"{datetime.date.today()}, {processor()}, {version.splitlines()[0]}, by "
           f"`bench/precision_accuracy.py {given_words()}`.\n")
    yield ("Test accuracy in %: mean ± standard error over the seeds, which are the same in every "
           "precision. Differences\nare from fp32, also in standard errors of the difference.\n")
    yield ("| experiment | seeds | epochs | data | precision | accuracy | difference "
           "| standard errors | within two | seconds |")
    yield "| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | --- | ---: |"
    for table in tables:
        yield from table


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", default=CASES, metavar="NAME:SEEDS:EPOCHS:FRACTION")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench" / "results",
                        help="folder for the result")
    options = parser.parse_args()
    tables = [list(rows(case, groups_of(case, options.jobs))) for case in options.cases]
    text = "\n".join(report(tables, options))
    print(text)
    options.out.mkdir(parents=True, exist_ok=True)
    name = f"precision_accuracy_{machine_name()}_{datetime.date.today()}.md"
    (options.out / name).write_text(text + "\n")


if __name__ == "__main__":
    main()
